package gateway_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestDirectClient: a client of 0.6 that declares capabilities.canvas.direct has the address
// as url while the canvas is ready, and the host's own url while it is stale. Another client
// beside it has the host's own always.
func TestDirectClient(t *testing.T) {
	s := newStage(t, app())
	opened, err := s.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "app", InstanceID: "app"})
	if err != nil {
		t.Fatal(err)
	}
	channel := opened.Channel
	client := func(id, canvas string) *editor {
		return newEditor(t, s.host.Endpoints().AHP, `{"channel":"ahp-root://","clientId":"`+id+`","protocolVersions":["0.6.0"],"capabilities":{"canvas":`+canvas+`}}`)
	}
	direct, plain, no := client("direct", `{"direct":true}`), client("plain", `{}`), client("no", `{"direct":false}`)
	first, own := direct.subscribe(channel), plain.subscribe(channel)
	if !strings.HasPrefix(first, "http://g-") || !strings.HasPrefix(own, "ahp-canvas-content:") || no.subscribe(channel) != own {
		t.Fatalf("the direct client has %s, the other %s", first, own)
	}
	at, cookie := s.enter(first)
	if res, body := s.do("GET", at, nil, "Cookie", cookie); res.StatusCode != 200 || !strings.Contains(body, "x=1") {
		t.Errorf("at the address: %d %s", res.StatusCode, body)
	}
	change := func(e *editor, from string) string {
		t.Helper()
		for e.urls[channel] == from {
			e.next()
		}
		return e.urls[channel]
	}
	s.reg.SetReachable(false)
	if got := change(direct, first); got != own {
		t.Errorf("while it is stale the direct client has %s, want %s", got, own)
	}
	s.reg.SetReachable(true)
	second := change(direct, own)
	if !strings.HasPrefix(second, "http://g-") || second == first {
		t.Errorf("it was at %s and is at %s", first, second)
	}
	if got := plain.subscribe(channel); got != own {
		t.Errorf("the other client has %s, want %s", got, own)
	}
	if got := direct.subscribe(channel); got != second {
		t.Errorf("subscribed again, the direct client has %s, want %s", got, second)
	}
}
