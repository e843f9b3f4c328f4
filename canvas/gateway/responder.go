package gateway

import (
	"bufio"
	"bytes"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// responder is the http.ResponseWriter of a request. It sets the headers that restrict a
// canvas to its own origin, drops those of an app that reach beyond it, and inserts the
// first script into documents.
type responder struct {
	to      http.ResponseWriter
	r       *http.Request
	header  http.Header
	app     bool   // the response is an app's, also without a script
	insert  string // the script of documents; "" for our own responses
	wrote   bool
	allowed allow.List // what the canvas may load from besides its own origin
	framed  bool       // the response is for a frame of the page
	instead bool       // a document was written in place of the response

	inserting bool
	tag       string
	held      []byte // the start of a document, until the place of the script is known
}

// The scripts that documents begin with. Attributes follow the first space.
const (
	shimScript  = `<script src="/.ahp/shim.js"></script>`
	localScript = `<script src="/.ahp/local.js"></script>`
)

// startBytes is how much of a document is searched for its doctype.
const startBytes = 1024

// cookiesHeader carries cookies that a document's script may read (package loopback).
const cookiesHeader = "X-Ahp-Cookies"

// portHeader has the port of the app's server, for a document's script (package loopback).
const portHeader = "X-Ahp-Port"

func newResponder(w http.ResponseWriter, r *http.Request) *responder {
	return &responder{to: w, r: r, header: http.Header{}}
}

// Header implements http.ResponseWriter.
func (w *responder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. It drops informational responses: their
// headers could open connections.
func (w *responder) WriteHeader(status int) {
	if w.wrote || status < 200 {
		return
	}
	w.wrote = true
	if w.isFile(status) {
		w.offerFile()
		return
	}
	cookies, port := w.header.Get(cookiesHeader), w.header.Get(portHeader)
	w.header.Del(portHeader)
	policies := []string(nil)
	if w.insert != "" || w.app {
		policies = w.filter()
	}
	to := w.to.Header()
	web.SetAllowedHeaders(w.to, w.allowed)
	if w.framed && w.r.Header.Get("Sec-Fetch-Dest") != "document" {
		web.SetFramePermissions(w.to)
	}
	for name, values := range w.header {
		if _, ours := to[name]; !ours || name == "Cache-Control" {
			to[name] = values
		}
	}
	for _, policy := range policies {
		to.Add("Content-Security-Policy", policy)
	}
	if w.inserting = w.isDocument(status); w.inserting {
		w.tag = tagOf(w.insert, policies, cookies, port)
		to.Set("Cache-Control", "no-store")
		if n, err := strconv.Atoi(to.Get("Content-Length")); err == nil {
			to.Set("Content-Length", strconv.Itoa(n+len(w.tag)))
		}
	}
	w.to.WriteHeader(status)
}

// isDocument reports whether a script is inserted into the response.
func (w *responder) isDocument(status int) bool {
	kind := strings.ToLower(w.header.Get("Content-Type"))
	return w.insert != "" && w.r.Method != http.MethodHead && status != http.StatusPartialContent && status != http.StatusNotModified && status != http.StatusNoContent &&
		strings.HasPrefix(kind, "text/html") && !strings.Contains(kind, "charset=utf-16") && w.header.Get("Content-Encoding") == "" && isDocument(w.r)
}

// isFile reports whether the response is a file to save in place of a document. The frames
// of the page save nothing: the person agrees on the card.
func (w *responder) isFile(status int) bool {
	kind, _, _ := strings.Cut(w.header.Get("Content-Disposition"), ";")
	return w.framed && w.insert != "" && status == http.StatusOK && w.r.Method == http.MethodGet && w.r.Header.Get("Sec-Fetch-Dest") == "iframe" &&
		strings.EqualFold(strings.TrimSpace(kind), "attachment")
}

// offerFile answers with a document that tells the outer frame where the file is, and goes
// back.
func (w *responder) offerFile() {
	w.instead = true
	web.SetAllowedHeaders(w.to, w.allowed)
	w.to.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.to.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w.to, fileDocument) // fails only if the client disconnected
}

const fileDocument = `<!doctype html><meta charset="utf-8"><title></title><script>parent.postMessage({ "x-ahp": "file", path: location.pathname + location.search }, location.origin); history.back()</script>`

var nonce = regexp.MustCompile(`'nonce-([A-Za-z0-9+/_=-]+)'`)

// tagOf returns the element of a script. Under the app's own policy it needs a nonce.
func tagOf(script string, policies []string, cookies, port string) string {
	attributes := ""
	for _, policy := range policies {
		if found := nonce.FindStringSubmatch(policy); found != nil {
			attributes = ` nonce="` + found[1] + `"`
			break
		}
	}
	if cookies != "" {
		attributes += ` data-cookies="` + html.EscapeString(cookies) + `"`
	}
	if port != "" {
		attributes += ` data-port="` + html.EscapeString(port) + `"`
	}
	return strings.Replace(script, "<script", "<script"+attributes, 1)
}

// Write implements http.ResponseWriter.
func (w *responder) Write(b []byte) (int, error) {
	if !w.wrote {
		if w.header.Get("Content-Type") == "" && w.header.Get("Content-Encoding") == "" {
			w.header.Set("Content-Type", http.DetectContentType(b))
		}
		w.WriteHeader(http.StatusOK)
	}
	if w.instead {
		return len(b), nil // the outer frame reads the file again
	}
	if !w.inserting {
		return w.to.Write(b)
	}
	w.held = append(w.held, b...)
	if len(w.held) < startBytes {
		return len(b), nil
	}
	return len(b), w.release()
}

// release writes the held start of a document, with the script.
func (w *responder) release() error {
	if !w.inserting {
		return nil
	}
	w.inserting = false
	at := standalone.Start(w.held)
	if bytes.HasPrefix(w.held, []byte("\xff\xfe")) || bytes.HasPrefix(w.held, []byte("\xfe\xff")) {
		at, w.tag = 0, "" // UTF-16
	}
	page := make([]byte, 0, len(w.held)+len(w.tag))
	page = append(append(append(page, w.held[:at]...), w.tag...), w.held[at:]...)
	w.held = nil
	_, err := w.to.Write(page)
	return err
}

// finish writes what is held.
func (w *responder) finish() { _ = w.release() }

// FlushError is for http.ResponseController.
func (w *responder) FlushError() error {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if len(w.held) > 0 {
		if err := w.release(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.to).Flush()
}

// Flush implements http.Flusher.
func (w *responder) Flush() { _ = w.FlushError() }

// Hijack is for http.ResponseController: the response of an upgrade has the headers of
// w.Header.
func (w *responder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	web.SetAllowedHeaders(w, w.allowed)
	w.wrote = true
	return http.NewResponseController(w.to).Hijack()
}

// Unwrap is for http.ResponseController.
func (w *responder) Unwrap() http.ResponseWriter { return w.to }
