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

// imported are the lines of shell.js in place of which scripts of the page stand: the shell
// is one classic script.
var imported = []struct{ line, script string }{
	{`import { View } from "../../web/page/view.js";`, "view.js"},
	{`import { judgeLink } from "../../web/page/linkrule.js";`, "linkrule.js"},
}

// bareStyle removes spaces without a meaning from our style sheet.
var bareStyle = strings.NewReplacer("\n", "", ": ", ":", "; ", ";", " { ", "{", " }", "}", ", ", ",", " > ", ">")

var exports = regexp.MustCompile(`(?m)^export `)

// shell returns the address and the text of the shell. It is made once, for all hosts.
var shell = sync.OnceValues(func() (uri, html string) {
	script := file("shell.js")
	for _, i := range imported {
		script = strings.Replace(script, i.line, exports.ReplaceAllString(string(web.CanvasScript(i.script)), ""), 1)
	}
	script = "(() => {\n\"use strict\";\n" + bare(script) + "})();"
	html = strings.NewReplacer("{style}", bareStyle.Replace(file("shell.css")), "{script}", script).Replace(strings.ReplaceAll(file("shell.html"), "\n", ""))
	sum := sha256.Sum256([]byte(html))
	return uriHead + hex.EncodeToString(sum[:6]) + uriTail, html
})

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
