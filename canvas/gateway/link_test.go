package gateway_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// bridged is a web app whose instances answer http/1 and no plain HTTP, as those of a
// client do.
type bridged struct{ *loopback.Provider }

func (bridged) Extension() canvas.Extension { return canvas.Extension{ID: "bridged"} }

func (bridged) Declarations() []canvas.Declaration {
	return []canvas.Declaration{{CanvasID: "bridged", DisplayName: "Bridged", Description: "Answers http/1 only."}}
}

func (b bridged) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	if outer, ok := req.Current.(bridgedInstance); ok {
		req.Current = outer.Instance
	}
	opened, err := b.Provider.Open(ctx, req, h)
	if err == nil {
		opened.Instance, opened.Sockets = bridgedInstance{opened.Instance, opened.Instance.(canvas.Messenger)}, false
	}
	return opened, err
}

type bridgedInstance struct {
	canvas.Instance
	canvas.Messenger
}

// TestBridged: HTTP reaches a provider that answers http/1 only, and a WebSocket is refused
// with a reason that a person can read.
func TestBridged(t *testing.T) {
	s := newStage(t, app())
	p, err := loopback.New("bridged", s.app.URL+"/start?x=1", loopback.Options{Probe: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := s.host.Add(bridged{p}); err != nil {
		t.Fatal(err)
	}
	at, cookie := s.enter(s.open("bridged"))
	if res, body := s.do("GET", at, nil, "Cookie", cookie); res.StatusCode != 200 || !strings.Contains(body, "GET x=1") {
		t.Errorf("%d %.200s", res.StatusCode, body)
	}
	u, _ := url.Parse(at)
	base := u.Scheme + "://" + u.Host
	if res, body := s.do("PUT", base+"/echo", strings.NewReader(strings.Repeat("x", 100_000)), "Cookie", cookie); res.StatusCode != http.StatusTeapot || !strings.HasPrefix(body, "PUT 100000") {
		t.Errorf("%d %.200s", res.StatusCode, body)
	}
	for accept, begins := range map[string]string{"": "WebSockets cannot reach", "text/html": "<!doctype html>"} {
		res, body := s.do("GET", base+"/ws", nil, "Cookie", cookie, "Accept", accept, "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		if res.StatusCode != http.StatusNotImplemented || !strings.HasPrefix(body, begins) || !strings.Contains(body, "WebSockets cannot reach this canvas") {
			t.Errorf("a WebSocket: %d %.300s", res.StatusCode, body)
		}
	}
}
