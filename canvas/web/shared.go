package web

import (
	"net/http"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// These functions are for packages that show canvases without the page and
// must use the same policies and scripts.

// SetCanvasHeaders sets the headers of a canvas's responses, which restrict it to its
// own origin. They allow redirects, which a service worker resolves itself: the caller
// must not send one that leaves the origin.
func SetCanvasHeaders(w http.ResponseWriter) { SetAllowedHeaders(w, allow.List{}) }

// SetAllowedHeaders sets the headers of a canvas's responses, which restrict it to its own
// origin and those of a list, with redirects as [SetCanvasHeaders] has them. Nothing but
// the host's name in the request may choose the list.
func SetAllowedHeaders(w http.ResponseWriter, list allow.List) {
	row := addresses{allowed: list}.headers(answer)
	row["Connection-Allowlist"] += redirects
	row["Permissions-Policy"] = deny
	setHeaders(w, row)
}

// SetFramePermissions lets a canvas's document have what the frame around it has: in a
// frame of the page, what the person allowed there. Call it after SetAllowedHeaders.
func SetFramePermissions(w http.ResponseWriter) { w.Header().Set("Permissions-Policy", granted) }

// CanvasScript returns canvas.js, which a canvas imports, view.js, which handles its
// messages, linkrule.js, which judges the links that it offers, or singleshim.js, which
// comes first in a document without an origin; nil for any other name.
func CanvasScript(name string) []byte {
	switch name {
	case "canvas.js":
		return must(content.ReadFile("content/canvas.js"))
	case "view.js", "linkrule.js", "singleshim.js":
		return must(page.ReadFile("page/" + name))
	}
	return nil
}

// AllowedScript returns canvas.js for a canvas that may load from the origins of a list:
// its mayLoad knows them.
func AllowedScript(list allow.List) []byte { return withAllowed(CanvasScript("canvas.js"), list) }

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
