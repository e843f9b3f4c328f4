package aamcanvas

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestAgentsPage: the owner lets an agent in by keyboard alone; names of strangers are
// text; the page is accessible. In each browser, because each has its own WebCrypto.
func TestAgentsPage(t *testing.T) {
	webtest.Each(t, agentsInTheBrowser, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

// startHost serves a host with a board, and its site on a listener.
func startHost(t *testing.T) (h *host.Host, s *site.Site, origin string) {
	t.Helper()
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	origin = "http://" + ln.Addr().String()
	s, err = site.New(site.Config{
		Origin: origin, Site: site.Info{Name: "Board", Domain: "board.example"},
		Actions: []site.Action{{ID: "add_card", Extension: "board", Canvas: "board", Instance: "board", Action: "add_card"}},
	}, Executor{Canvases: h.Canvases(), Session: host.DefaultSession}, nil, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: s.Handler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	p := New(Options{Agents: s, PIN: testPIN(t)})
	t.Cleanup(func() { _ = srv.Close(); <-done; _ = p.Close(); _ = s.Close() })
	hosttest.Serve(t, h)
	for _, d := range []canvas.Declarer{board.New(), p} {
		if _, err := h.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: AgentsID, InstanceID: "a"}); err != nil {
		t.Fatal(err)
	}
	return h, s, origin
}

func agentsInTheBrowser(t *testing.T) {
	h, s, origin := startHost(t)
	form := url.Values{"vendor": {agentVendor}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+site.PathAuthorize, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin}}
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 200 {
		t.Fatal(err)
	}
	number := s.Pending()[0].ID
	tab := webtest.Start(t).Open(t, h.Link(host.DefaultSession))
	frame := tab.Frames(t, 1, webtest.ContentFrame)[0]
	const prelude = `(() => { const d = document.querySelector("iframe").contentDocument, at = (s) => d.querySelector(s); return `
	wait := func(expression string) { t.Helper(); frame.Wait(t, prelude+expression+`})()`) }
	wait(`d.body.getAttribute("aria-busy") === "false" && at("#r` + number + `")?.textContent.includes("` + agentVendor + `")`)
	at := webtest.Eval[[2]float64](t, tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x + 4, r.y + 4]; })()`)
	tab.ClickAt(t, at[0], at[1]) // WebKit gives a frame the focus only after a click
	audit(t, frame, prelude)
	webtest.Eval[bool](t, frame, prelude+`(at("#r`+number+` [name=pin]").focus(), true)})()`)
	frame.Keys(t, kb.Enter)
	wait(`at("#r` + number + ` .error").textContent === "Enter your PIN."`)
	frame.Keys(t, "geheim"+kb.Enter)
	wait(`at(".code")?.textContent.length === 9 && d.activeElement.textContent.includes(at(".code").textContent)`)
	audit(t, frame, prelude)
	code := webtest.Eval[string](t, frame, prelude+`at(".code").textContent})()`)
	resp, err := http.Post(origin+site.PathToken, "application/json", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(err, resp)
	}
	wait(`at("#agents")?.textContent.includes("0 of 5 calls today")`)
	audit(t, frame, prelude)
}

// audit fails on serious violations of accessibility, in Chromium, if axe-core is installed.
func audit(t *testing.T, frame *webtest.Page, prelude string) {
	t.Helper()
	axe, err := os.ReadFile("../../../web/node_modules/axe-core/axe.min.js")
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	found := webtest.Eval[string](t, frame, prelude+`(d.defaultView.eval(`+string(ahp.MustMarshal(string(axe)))+`),
		d.defaultView.axe.run(d, { resultTypes: ["violations"] })).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + " at " + v.nodes.map((n) => n.target + ": " + n.failureSummary).join("; ")).join("\n"))})()`)
	if found != "" {
		t.Errorf("axe: %s", found)
	}
}

// TestExecutor: an action runs on the board that people see; errors of the canvas have
// statuses.
func TestExecutor(t *testing.T) {
	t.Parallel()
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	if _, err := h.Add(board.New()); err != nil {
		t.Fatal(err)
	}
	e := Executor{Canvases: h.Canvases(), Session: host.DefaultSession}
	a := site.Action{ID: "x", Extension: "board", Canvas: "board", Instance: "b", Action: "add_card"}
	description, schema, ok := e.Describe(a)
	if !ok || description == "" || !strings.Contains(string(schema), `"title"`) {
		t.Errorf("%q %s %v", description, schema, ok)
	}
	for _, missing := range []site.Action{{Extension: "none", Canvas: "board", Action: "add_card"}, {Extension: "board", Canvas: "board", Action: "none"}} {
		if _, _, ok := e.Describe(missing); ok {
			t.Errorf("%+v is described", missing)
		}
	}
	for name, c := range map[string]struct {
		action site.Action
		input  string
		status int
	}{
		"runs":          {a, `{"list":"To do","title":"Milk"}`, 0},
		"unknown list":  {a, `{"list":"none","title":"Milk"}`, 422},
		"bad input":     {a, `{"list":"To do"}`, 400},
		"no such board": {site.Action{Extension: "none", Canvas: "none", Action: "x"}, `{}`, 503},
	} {
		_, err := e.Execute(t.Context(), site.Call{Action: c.action, Input: ahp.Value(c.input)})
		f, _ := errors.AsType[*site.Failure](err)
		if c.status == 0 && err != nil || c.status != 0 && (f == nil || f.Status != c.status) {
			t.Errorf("%s: %+v %v", name, f, err)
		}
	}
}
