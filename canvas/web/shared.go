package web

import "net/http"

// These functions are for packages that show canvases without the page and
// must use the same policies and scripts.

// SetCanvasHeaders sets the headers of a canvas's responses, which restrict it to its
// own origin. They allow redirects, which a service worker resolves itself: the caller
// must not send one that leaves the origin.
func SetCanvasHeaders(w http.ResponseWriter) { setHeaders(w, canvasHeaders) }

var canvasHeaders = func() map[string]string {
	row := addresses{}.headers(answer)
	row["Connection-Allowlist"] = withRedirects
	return row
}()

// CanvasScript returns canvas.js, which a canvas imports, or view.js, which handles
// its messages; nil for any other name.
func CanvasScript(name string) []byte {
	switch name {
	case "canvas.js":
		return must(content.ReadFile("content/canvas.js"))
	case "view.js":
		return must(page.ReadFile("page/view.js"))
	}
	return nil
}

func must(body []byte, err error) []byte {
	if err != nil {
		panic(err) // the file is embedded, so a test would have failed
	}
	return body
}

// ContentBase returns the scheme of a pattern of content origins, and what follows the
// first label of its hosts. ok is false if the pattern is invalid.
func ContentBase(contentOrigin string) (scheme, suffix string, ok bool) {
	p, err := parsePattern(contentOrigin)
	return p.scheme, p.suffix, err == nil
}
