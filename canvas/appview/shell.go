package appview

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"strings"
	"sync"
)

// The shell and the first script of documents are ES modules in the directory shell, and built
// into the directory built: a chat receives them with each canvas that it shows.
//
//go:generate go test -run ^TestBuilt$ . -args -update
//go:embed shell/shell.html built
var files embed.FS

// The address of the shell as an MCP resource, around the beginning of its hash.
const (
	uriHead = "ui://ahp-canvas/"
	uriTail = ".html"
)

// IsPage reports whether an MCP resource is the shell, under the address of this version
// or of an earlier one: a chat may ask for the address of last week.
func IsPage(uri string) bool {
	hash, ok := strings.CutPrefix(uri, uriHead)
	hash, ends := strings.CutSuffix(hash, uriTail)
	_, err := hex.DecodeString(hash)
	return ok && ends && len(hash) == 12 && err == nil && hash == strings.ToLower(hash)
}

// shell returns the address and the text of the shell: shell.html with one classic script and
// one style sheet. It is made once, for all hosts.
var shell = sync.OnceValues(func() (uri, html string) {
	html = strings.NewReplacer("\n", "", "{style}", strings.TrimSpace(file("built/shell.css")), "{script}", file("built/shell.js")).Replace(file("shell/shell.html"))
	sum := sha256.Sum256([]byte(html))
	return uriHead + hex.EncodeToString(sum[:6]) + uriTail, html
})

// first returns the first script of each document. The shell puts the theme in the place of
// the text "{ahp-theme}".
func first() string { return file("built/first.js") }

func file(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the file is embedded, so a test would have failed
	}
	return string(b)
}
