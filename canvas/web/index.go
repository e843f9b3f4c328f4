package web

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// built is the page's modules in one file.
//
//go:generate go test -run ^TestBuilt$ . -args -update
//go:embed built/page.js
var built []byte

// builtScript is the path of built, which the served index.html names.
const builtScript = "/page.js"

// packedScript returns built in gzip. That is a third of its size, and over a slow connection
// most of what the page waits for.
var packedScript = sync.OnceValue(func() []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = w.Write(built) // into memory: cannot fail
	_ = w.Close()
	return packed.Bytes()
})

// blocking finds the elements of index.html for which the first paint would wait: style
// sheets, and classic scripts without defer.
var blocking = regexp.MustCompile(`<link rel="stylesheet" href="([^"]+)">|<script src="([^"]+)"></script>`)

// served is how index.html differs from the file: what is blocking is inline, and the modules
// are one file.
type served struct {
	elements        *strings.Replacer
	scripts, styles string // hashes of what is inline, for a Content-Security-Policy
}

var index = sync.OnceValue(func() served {
	elements := []string{`src="app.js"`, `src="` + builtScript[1:] + `"`}
	var scripts, styles []string
	for _, m := range blocking.FindAllStringSubmatch(embedded(page, "page/index.html"), -1) {
		text := embedded(page, "page/"+m[1]+m[2])
		if m[1] != "" {
			elements, styles = append(elements, m[0], "<style>"+text+"</style>"), append(styles, hashSource(text))
		} else {
			elements, scripts = append(elements, m[0], "<script>"+text+"</script>"), append(scripts, hashSource(text))
		}
	}
	return served{strings.NewReplacer(elements...), strings.Join(scripts, " "), strings.Join(styles, " ")}
})
