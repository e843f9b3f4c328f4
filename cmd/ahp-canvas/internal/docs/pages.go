package docs

import (
	"embed"
	"io/fs"
	"iter"
	"path"
	"strings"
)

//go:embed pages/*.md
var files embed.FS

// pages yields the written topics: their names and texts.
func pages() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		list, _ := fs.ReadDir(files, "pages") // an embedded folder can be read
		for _, f := range list {
			text, _ := files.ReadFile(path.Join("pages", f.Name()))
			if !yield(strings.TrimSuffix(f.Name(), ".md"), string(text)) {
				return
			}
		}
	}
}
