package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// A page shows that the host is at its limit, and connects when a connection is free.
func TestHostAtItsLimit(t *testing.T) {
	webtest.InShort(t)
	b := webtest.Start(t)
	h, err := host.New(host.Options{MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	view, _ := h.Tokens()
	other, err := ws.Dial(t.Context(), h.Endpoints().AHP, ws.DialOptions{Token: view})
	if err != nil {
		t.Fatal(err)
	}
	// A connection counts once its handshake is answered, which is after the dial
	// returns.
	_ = other.WriteBatch([][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)})
	if _, err := other.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	p := b.Open(t, h.Link(host.DefaultSession))
	p.Wait(t, fmt.Sprintf("(%s).includes(%q)", words, "The host has too many connections."))
	other.Close(ws.CodeNormal, "")
	other.Wait()
	p.Wait(t, fmt.Sprintf("(%s).includes(%q)", words, "Nothing is open"))
}

// TestSilentListener: a listener that never answers is reported, and can be retried.
func TestSilentListener(t *testing.T) {
	silent := func(next http.Handler) http.Handler {
		next = rewritten(next, "/ahp.js", "const OPEN_TIMEOUT = 10_000;", "const OPEN_TIMEOUT = 300;")
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/ahp" {
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	p := webtest.Start(t).Open(t, start(t, silent).link)
	p.Wait(t, fmt.Sprintf("(%s).includes(%q) && document.querySelector('#empty button').textContent === 'Try now'", words, "The connection to the host is lost."))
}
