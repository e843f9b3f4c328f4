package appview

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

//go:embed shell
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

// importLine is the line of shell.js in place of which the View stands: the shell is one
// classic script.
const importLine = `import { View } from "../../web/page/view.js";`

// shell returns the address and the text of the shell. It is made once, for all hosts.
var shell = sync.OnceValues(func() (uri, html string) {
	view := strings.Replace(string(web.CanvasScript("view.js")), "export class View", "class View", 1)
	script := "(() => {\n\"use strict\";\n" + bare(strings.Replace(file("shell.js"), importLine, view, 1)) + "})();"
	html = strings.NewReplacer("{style}", strings.ReplaceAll(file("shell.css"), "\n", ""), "{script}", script).Replace(file("shell.html"))
	sum := sha256.Sum256([]byte(html))
	return uriHead + hex.EncodeToString(sum[:6]) + uriTail, html
})

var (
	comments = regexp.MustCompile(`(?s)/\*\*.*?\*/ ?`)
	ownLines = regexp.MustCompile(`(?m)^[ \t]*//.*$`)
	endLines = regexp.MustCompile("(?m)([;,{])[ \\t]+// [^\"'`\\n]*$")
	indented = regexp.MustCompile(`(?m)^[ \t]+|\n{2,}`)
)

// bare returns our scripts without comments and indentation: the shell is sent with each
// canvas that a chat shows.
func bare(script string) string {
	script = ownLines.ReplaceAllString(endLines.ReplaceAllString(comments.ReplaceAllString(script, ""), "$1"), "")
	return indented.ReplaceAllStringFunc(script, func(s string) string { return s[:strings.Count(s[:1], "\n")] })
}

// first returns the first script of each document. The shell puts the theme in the place of
// the text "{ahp-theme}".
var first = sync.OnceValue(func() string {
	return "(() => { " + bare(string(web.CanvasScript("singleshim.js"))) + "\n" +
		`prepareDocument({ theme: "{ahp-theme}", modules: {}, scheme: "", title: document.title }); })();` + "\n" + bare(file("height.js"))
})

func file(name string) string {
	b, err := files.ReadFile("shell/" + name)
	if err != nil {
		panic(err) // the file is embedded, so a test would have failed
	}
	return string(b)
}
