package standalone

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

//go:embed local.js
var script []byte

// Refuse returns an error status for a request of another origin. Navigations are allowed
// from anywhere, so that other pages can embed a canvas. origin is the canvas's.
func Refuse(r *http.Request, origin string) (status int, text string) {
	const other = "Other web pages can show this canvas in a frame, but cannot send requests to it."
	if from := r.Header.Get("Origin"); from != "" && from != origin {
		return http.StatusForbidden, other
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none":
	case r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
	default:
		return http.StatusForbidden, other
	}
	return 0, ""
}

// Script returns a file below /.ahp/ by its name, or nil.
func Script(name string) []byte {
	if name == "local.js" {
		return script
	}
	return web.CanvasScript(name)
}

// doctype matches the start of a document before which no element can stand.
var doctype = regexp.MustCompile(`(?i)^(\xEF\xBB\xBF)?\s*(<!--[^>]*-->\s*)*<!doctype[^>]*>`)

// Start returns the place in a document before which no element can stand: after the
// doctype, or 0. It looks at 1,024 bytes.
func Start(page []byte) int { return len(doctype.Find(page[:min(len(page), 1024)])) }

// Fail answers with a text for people, as a page if the client accepts HTML.
func Fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, text)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>%d</title>
<style>:root{color-scheme:light dark}html{height:100%%;font:1rem/1.5 system-ui,sans-serif}
body{margin:0;min-height:100%%;display:grid;place-content:center;padding:2rem;box-sizing:border-box;text-align:center}
p{margin:0;max-width:34ch;text-wrap:balance}small{display:block;margin-block-start:.5rem;opacity:.7}</style>
<p>%s</p><small>Status %d</small>`, status, html.EscapeString(text), status)
}
