package folder

import (
	"embed"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// starter holds the files that New writes. {{id}}, {{name}} and {{title}} are replaced.
//
//go:embed starter
var starter embed.FS

// StarterFiles are the names of the files that New writes. Editors use the schema to
// complete and check canvas.json.
var StarterFiles = []string{ManifestName, "index.html", "main.js", "style.css", schemaName}

const schemaName = "canvas.schema.json"

// New writes a small working canvas, named after the folder: one action, one message to
// the agent, both themes. It creates the folder if necessary. If one of the files
// exists, New writes nothing and returns an error that wraps fs.ErrExist.
func New(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	if err := os.MkdirAll(abs, 0o755); err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	defer root.Close()
	for _, name := range StarterFiles {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("folder %q: %q exists, so nothing was written: %w", dir, name, fs.ErrExist)
		}
	}
	return writeStarter(root, filepath.Base(abs))
}

// writeStarter writes all files, or on error removes those that it wrote.
func writeStarter(root *os.Root, name string) (err error) {
	var written []string
	defer func() {
		if err != nil {
			for _, name := range written {
				_ = root.Remove(name) // the first error is returned
			}
			err = fmt.Errorf("folder: %w", err)
		}
	}()
	fill := filler(name)
	for _, name := range StarterFiles {
		text := string(Schema)
		if name != schemaName {
			b, err := starter.ReadFile("starter/" + name)
			if err != nil {
				return err
			}
			text = fill.Replace(string(b))
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		written = append(written, name)
		_, err = f.WriteString(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// filler replaces the placeholders, each in the syntax of its file.
func filler(name string) *strings.Replacer {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	return strings.NewReplacer("{{id}}", string(ahp.MustMarshal(slug(name))), "{{name}}", string(ahp.MustMarshal(name)), "{{title}}", html.EscapeString(name))
}
