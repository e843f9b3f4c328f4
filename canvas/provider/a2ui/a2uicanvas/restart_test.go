package a2uicanvas_test

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// cable is a listener whose connections a test can cut.
type cable struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	out   bool
}

func (c *cable) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out {
		_ = conn.Close() // the server finds it closed
	}
	c.conns = append(c.conns, conn)
	return conn, nil
}

// pull closes all connections, and new ones until plug.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

func (c *cable) plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = false
}

// ready reports whether the one open canvas has its provider.
func (s *stage) ready() bool {
	s.t.Helper()
	open, err := s.host.Canvases().ListOpen(host.DefaultSession)
	if err != nil || len(open) != 1 {
		s.t.Fatalf("open: %v, %v", open, err)
	}
	return open[0].Availability == session.Ready
}

// TestConnectionAndHostLost: a page that loses its connection shows what was drawn
// meanwhile once it is back, and keeps what was typed. So it does when the host is
// started again, and the next click is an event of the new host.
func TestConnectionAndHostLost(t *testing.T) {
	store := channels.NewMemory()
	addr := "127.0.0.1:0"
	life := func() (*stage, *cable, func() error) {
		t.Helper()
		h, err := host.New(host.Options{Store: store, ViewToken: "view", AgentToken: "agent"})
		if err != nil {
			t.Fatal(err)
		}
		p := a2uicanvas.New(a2uicanvas.Options{})
		if _, err := h.Add(p); err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		addr = ln.Addr().String()
		c := &cable{Listener: ln}
		stop := hosttest.ServeOn(t, h, c)
		t.Cleanup(func() { _ = p.Close() })
		return &stage{t, h}, c, stop
	}
	s, c, stop := life()
	s.open("a2ui", "x", `{"messages":`+find(t, "09_login-form").json()+`}`)
	v := s.screen(webtest.Start(t))
	v.do(`type("input[type=text]", "ada@example.com")`)
	add := func(s *stage, text string) {
		t.Helper()
		s.apply("x", `[{"version":"v0.9","createSurface":{"surfaceId":"`+text+`","catalogId":"https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"}},
			{"version":"v0.9","updateComponents":{"surfaceId":"`+text+`","components":[{"id":"root","component":"Text","text":"`+text+`"}]}}]`)
	}
	const typed = `at("input[type=text]").value === "ada@example.com"`
	back := func() {
		t.Helper()
		v.tab.Wait(t, `document.body.dataset.connection === "ready" || void [...document.querySelectorAll("#banner button")].find((b) => b.textContent === "Try now")?.click()`)
	}

	c.pull()
	v.tab.Wait(t, `document.body.dataset.connection !== "ready"`)
	add(s, "drawn-meanwhile")
	if got := v.eval(`says()`); strings.Contains(got, "drawn-meanwhile") {
		t.Error("the page has what was drawn without its connection")
	}
	c.plug()
	back()
	v.wait(`says().includes("drawn-meanwhile") && ` + typed)

	if err := stop(); err != nil {
		t.Fatal(err)
	}
	v.tab.Wait(t, `document.body.dataset.connection !== "ready"`)
	store.Close()
	var err error
	if store, err = store.Reopen(); err != nil {
		t.Fatal(err)
	}
	s, _, _ = life()
	for !s.ready() { // the host opens the canvas again in the background
		v.wait(`true`) // a round trip to the page
	}
	add(s, "drawn-by-the-next")
	back()
	v.wait(`says().includes("drawn-meanwhile drawn-by-the-next") && ` + typed)
	v.do(`type("input[type=password]", "correct horse")`)
	v.do(`button("Sign in").click()`)
	v.tab.Wait(t, `document.body.innerText.includes("Working…")`)
	if e := s.events(); len(e) != 1 || !strings.Contains(e[0], `"a2ui.action"`) || !strings.Contains(e[0], "ada@example.com") {
		t.Errorf("events of the new host %q", e)
	}
	other := s.screen(webtest.Start(t)) // a page that is opened later
	other.wait(`says().includes("drawn-by-the-next")`)
}
