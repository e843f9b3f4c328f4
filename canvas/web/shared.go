package web

import (
	"net/http"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// These functions are for package local, which shows canvases without the page and
// must use the same policies and scripts.

// SetCanvasHeaders sets the headers of a canvas's responses, which restrict it to its
// own origin.
func SetCanvasHeaders(w http.ResponseWriter) { SetAllowedHeaders(w, allow.List{}) }

// SetAllowedHeaders sets the headers of a canvas's responses, which restrict it to its own
// origin and those of a list. Nothing but the host's name in the request may choose the
// list.
func SetAllowedHeaders(w http.ResponseWriter, list allow.List) {
	setHeaders(w, addresses{allowed: list}.headers(answer))
}

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
