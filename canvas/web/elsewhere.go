package web

import "net/http"

// What follows is for who shows canvases without the page (package local): the
// same policies and the same files, or the two would drift apart.

// SetCanvasHeaders puts on a response what everything of a canvas carries: it may
// reach its own origin and nothing else.
func SetCanvasHeaders(w http.ResponseWriter) { setHeaders(w, addresses{}.headers(answer)) }

// CanvasScript returns a script of ours that a canvas may ask for, or nil:
// canvas.js, which it imports, and view.js, which is the other end of it.
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
		panic(err) // embedded: cannot fail on a machine if it passed a test
	}
	return body
}
