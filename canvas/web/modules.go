package web

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// imported finds the modules of a script: static imports and re-exports of its folder. It
// begins with the quote, which is rare in a script, and so is found without the automaton.
var imported = regexp.MustCompile(`"\./([a-z0-9-]+\.js)";`)

// modules returns the page's scripts that a script imports, directly or through others, in
// the order in which they are found, the script itself first.
func modules(script string) []string {
	list := []string{script}
	for at := 0; at < len(list); at++ {
		text := embedded(page, "page/"+list[at])
		for _, m := range imported.FindAllStringSubmatchIndex(text, -1) {
			before, name := text[:m[0]], text[m[2]:m[3]]
			if (strings.HasSuffix(before, " from ") || strings.HasSuffix(before, "\nimport ")) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// start is the element of index.html that starts the page.
const start = `<script type="module" src="app.js"></script>`

// preloads are the elements that name the page's modules: they load behind the style sheets,
// so that the page is painted first. The files are embedded, so they are read once.
var preloads = sync.OnceValue(func() string {
	var links strings.Builder
	for _, name := range modules("app.js") {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" fetchpriority=\"low\" href=\"%s\">\n", name)
	}
	return links.String()
})

// withModules names the page's modules at the start of index.html, so that a browser does
// not find them one behind the other.
func withModules(index []byte) []byte {
	return bytes.Replace(index, []byte(start), []byte(preloads()+start), 1)
}
