package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// startRelay starts a relay with the page, at which the host is registered as laptop, and
// returns its origin. The relay's token alone opens nothing at the host.
func startRelay(t *testing.T, h *host.Host) string {
	return startRelayWith(t, h, seal.NewHost(seal.NewKey(), "laptop", true), &recording{})
}

// startRelayWith is startRelay with the host's end of sealed connections. It records what
// the relay receives and sends.
func startRelayWith(t *testing.T, h *host.Host, sealing *seal.Host, all *recording) string {
	t.Helper()
	return serveAtRelay(t, all, func(ctx context.Context, socket *ws.Conn, lane relay.LaneInfo) {
		if sealing.Accept(ctx, socket, lane.Person) == nil {
			h.ServeSocket(socket, ws.Grant{Role: "none", Name: "relay " + lane.Person})
		}
	})
}

// serveAtRelay starts a relay with the page and a host that serves its connections, and
// returns the relay's origin.
func serveAtRelay(t testing.TB, all *recording, serve func(context.Context, *ws.Conn, relay.LaneInfo)) string {
	t.Helper()
	o := relaytest.Options{Serve: serve, Page: func(origin string, edge *relay.Edge) (http.Handler, error) {
		return web.New(web.Options{AppOrigins: []string{origin}, App: edge})
	}}
	if all != nil {
		o.Listen = func(ln net.Listener) net.Listener { return recordingListener{ln, all} }
	}
	return relaytest.Start(t, o)
}

// TestInvitationAtARelay: the page of a relay exchanges an invitation for a token of the
// browser and proves it after a reload. Another browser with the same link learns when it
// was used.
func TestInvitationAtARelay(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	origin := startRelay(t, e.host)
	code, _, err := e.host.AccessTokens().Create(token.Request{Kind: token.Invitation, Name: "a person", Role: host.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	link := web.InvitationAt(origin+"/#tkn=relay-token&host=laptop", code)
	b := webtest.Start(t)
	const ready = `document.body.dataset.connection === "ready"`
	p := b.Open(t, link)
	p.Wait(t, ready)
	p.Reload(t)
	p.Wait(t, ready)
	if tokens := e.host.AccessTokens().List(); len(tokens) != 2 {
		t.Errorf("tokens %+v, want the used invitation and the browser's", tokens)
	}
	webtest.Eval[any](t, p, `localStorage.clear()`)
	stranger := b.Open(t, link)
	stranger.Wait(t, fmt.Sprintf("(%s + document.body.innerText).includes(%q)", words, "This link was used already, at "))
}

// TestALinkOfARelay: the link of a host at a relay has the host's view token, which the relay
// never sees. Links that a person copies lead to the same host through the same relay, and
// have an invitation instead.
func TestALinkOfARelay(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	key, seen := seal.NewKey(), &recording{}
	at := startRelayWith(t, e.host, seal.NewHost(key, relaytest.Host, true), seen) + "/#tkn=" + relaytest.Token + "&host=" + relaytest.Host
	for name, link := range map[string]string{"sealed": at + "&key=" + key.Public().String(), "clear": at} {
		t.Run(name, func(t *testing.T) {
			p := webtest.Start(t).Open(t, web.ViewAt(link, viewToken))
			shown(t, p, 1)
			p.Reload(t)
			shown(t, p, 1)
			webtest.Eval[any](t, p, `void (Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } }))`)
			choose(t, p, "Copy a link that only shows")
			p.Wait(t, `Boolean(window.copied)`)
			copied := webtest.Eval[string](t, p, `window.copied`)
			if strings.Contains(copied, viewToken) || !strings.HasSuffix(copied, "&canvas=one") {
				t.Errorf("the link is %s", copied)
			}
			guest := webtest.Start(t).Open(t, copied)
			shown(t, guest, 1)
			guest.Reload(t)
			shown(t, guest, 1)
			if address := webtest.Eval[string](t, guest, `location.href`); strings.Contains(address, relaytest.Token) || strings.Contains(address, "invite") {
				t.Errorf("the address is %s", address)
			}
			if found := seen.finds(viewToken); found != "" {
				t.Errorf("the relay sees %q of the view token", found)
			}
			wrong := webtest.Start(t).Open(t, web.ViewAt(link, "a-token-that-was-replaced"))
			wrong.Wait(t, fmt.Sprintf("(%s + document.body.innerText).includes(%q)", words, "The link is not valid here."))
		})
	}
}
