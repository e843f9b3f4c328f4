package host_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestProxy: a client works through a reverse proxy such as that of the example, at its
// root and under a prefix that it removes: it follows a session over the WebSocket, and
// the links and endpoints of the host have the prefix.
func TestProxy(t *testing.T) {
	for _, prefix := range []string{"", "/Team/canvas"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			h, err := host.New(host.Options{Origins: []string{"http://Canvas.example" + prefix + "/", "http://second.example/x"}, ViewToken: "secret"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = h.Close() })
			base := "canvas.example" + prefix
			if got, want := h.Endpoints(), (host.Endpoints{Page: "http://" + base + "/", AHP: "ws://" + base + "/ahp", MCP: "http://" + base + "/mcp"}); got != want {
				t.Errorf("the endpoints are %v, want %v", got, want)
			}
			if got := h.Link(host.DefaultSession); !strings.HasPrefix(got, "http://"+base+"/#tkn=secret&") {
				t.Errorf("the link is %s", got)
			}
			proxy := httptest.NewServer(http.StripPrefix(prefix, forwardTo(t, h)))
			t.Cleanup(proxy.Close)
			c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{
				Token: "secret", Subscriptions: []string{host.DefaultSession},
				NetDial: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, proxy.Listener.Addr().String())
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			exchange(t, h, c)
		})
	}
}

// exchange sends a message to a canvas, and its provider's answer back.
func exchange(t *testing.T, h *host.Host, c *client.Client) {
	t.Helper()
	echo := canvas.New("echo", "Echoes.", canvas.OnMessage(func(ctx context.Context, handle *canvas.Handle, _ canvas.View, payload ahp.Value) {
		_ = handle.Post(ctx, payload)
	}))
	if _, err := h.Add(echo); err != nil {
		t.Fatal(err)
	}
	open, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "echo", InstanceID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(t.Context(), open.Channel); err != nil {
		t.Fatal(err)
	}
	watch := c.Watch(open.Channel)
	defer watch.Close()
	if err := c.Message(t.Context(), open.Channel, "hello"); err != nil {
		t.Fatal(err)
	}
	for {
		e, err := watch.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Origin == nil && strings.Contains(string(e.Raw), `"hello"`) {
			return
		}
	}
}

// forwardTo returns the proxy of the example, in front of a server for h.
func forwardTo(t *testing.T, h http.Handler) http.Handler {
	inside := httptest.NewServer(h)
	t.Cleanup(inside.Close)
	target, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
}

// TestOriginsThatAreNone: a path is cut from an origin, and nothing else is.
func TestOriginsThatAreNone(t *testing.T) {
	for _, origin := range []string{"https://a.example/x?y", "https://a.example/x#y", "https://me@a.example/x", "https://a.example/x/../y", "https://a.example//x", "a.example/x", "ftp://a.example/x"} {
		if h, err := host.New(host.Options{Origins: []string{origin}}); err == nil || !strings.Contains(err.Error(), "is not a web origin") {
			t.Errorf("%s: %v", origin, err)
			if h != nil {
				_ = h.Close()
			}
		}
	}
}
