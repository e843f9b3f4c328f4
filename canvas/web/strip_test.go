package web_test

import (
	"bytes"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// sandbox is the beginning of the attribute of both frames.
const sandbox = "allow-scripts allow-same-origin allow-forms"

// A strip names a protection between a canvas and the network, and removes it: a header
// of a kind of response ("answer: Connection-Allowlist"), the service worker's refusal
// of other origins ("worker"), the sandbox's refusal of popups and top navigation
// ("sandbox"), or the page's filter of an app's headers ("headers").
type strip string

// without wraps a host to remove some of its protections. It changes responses, so the
// product needs no switch for it.
func without(strips ...strip) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind := kindOf(r)
			if r.Header.Get("Upgrade") != "" {
				next.ServeHTTP(w, r)
				return
			}
			r.Header.Del("Accept-Encoding") // in gzip nothing is found
			rec := &recorder{header: http.Header{}, status: http.StatusOK}
			next.ServeHTTP(rec, r)
			body := rec.body.Bytes()
			for _, s := range strips {
				k, header, _ := strings.Cut(string(s), ": ")
				if k == kind {
					rec.header.Del(header)
				}
				if s == "sandbox" {
					body = bytes.Replace(body, []byte(sandbox), []byte(sandbox+" allow-popups allow-top-navigation allow-downloads"), 1)
				}
				if r.URL.Path == "/" && s == "headers" {
					body = oneByOne(body)
				}
				if r.URL.Path == "/headers.js" && s == "headers" {
					body = bytes.ReplaceAll(body, []byte("if (DROPPED.test(name)"), []byte("if (false"))
					body = bytes.ReplaceAll(body, []byte("d && !DROPPED_DIRECTIVES"), []byte("d && !/^$/"))
				}
				if r.URL.Path == "/.ahp/sw.js" {
					body = stripWorker(body, k, header)
				}
			}
			maps.Copy(w.Header(), rec.header)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.WriteHeader(rec.status)
			_, _ = w.Write(body)
		})
	}
}

// kindOf returns the kind of the response to a request.
func kindOf(r *http.Request) string {
	content := webtest.IsContentHost(r.Host)
	switch {
	case content && r.URL.Path == "/.ahp/frame.html":
		return "frame"
	case content && strings.HasSuffix(r.URL.Path, ".js") && strings.HasPrefix(r.URL.Path, "/.ahp/"):
		return "asset"
	case content:
		return "answer"
	case r.URL.Path == "/direct.html":
		return "direct"
	case r.URL.Path == "/single.html":
		return "single"
	}
	return "app"
}

// stripWorker removes a header, or the rule about other origins, from sw.js.
func stripWorker(body []byte, kind, header string) []byte {
	if kind == "worker" {
		return bytes.Replace(body, []byte("return event.respondWith(Response.error());"), []byte("return;"), 1)
	}
	if kind != "answer" {
		return body
	}
	before, policy, after := cutPolicy(body)
	delete(policy, header)
	row := ahp.MustMarshal(policy)
	return bytes.Join([][]byte{before, []byte("const POLICY = "), row, []byte(";"), after}, nil)
}

// cutPolicy finds the headers in sw.js.
func cutPolicy(body []byte) (before []byte, policy map[string]string, after []byte) {
	before, rest, _ := bytes.Cut(body, []byte("const POLICY = "))
	row, after, _ := bytes.Cut(rest, []byte("};"))
	if err := ahp.Unmarshal(append(bytes.Clone(row), '}'), &policy); err != nil {
		panic(err)
	}
	return before, policy, after
}

func workerPolicy(t *testing.T, body []byte) map[string]string {
	t.Helper()
	if n := bytes.Count(body, []byte("const POLICY = ")); n != 1 {
		t.Fatalf("sw.js has %d policies", n)
	}
	_, policy, _ := cutPolicy(body)
	return policy
}

// recorder buffers a response so that it can be changed.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

// rewritten replaces a text in one file on its way to the browser, for which the page loads
// its modules one by one.
func rewritten(next http.Handler, path, old, text string) http.Handler {
	next = edited(next, "/", func(index []byte) []byte {
		return bytes.Replace(index, []byte(`src="page.js"`), []byte(`src="app.js"`), 1)
	})
	return edited(next, path, func(body []byte) []byte { return bytes.Replace(body, []byte(old), []byte(text), 1) })
}

// oneByOne returns index.html that loads the page's modules one by one.
func oneByOne(index []byte) []byte {
	return bytes.Replace(index, []byte(`src="page.js"`), []byte(`src="app.js"`), 1)
}

// edited changes a file of the page.
func edited(next http.Handler, path string, edit func(body []byte) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			next.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Accept-Encoding")
		rec := &recorder{header: http.Header{}, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		body := edit(rec.body.Bytes())
		maps.Copy(w.Header(), rec.header)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(rec.status)
		_, _ = w.Write(body)
	})
}
