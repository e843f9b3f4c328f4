package aapcanvas_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// env is a running host with the canvases of one agent.
type env struct {
	t     testing.TB
	host  *host.Host
	store *aap.Store
	p     *aapcanvas.Provider
	root  string
	link  string
	now   func() time.Time // the store's clock; nil is time.Now

	mu    sync.Mutex
	lines []string // notifications
}

// start starts a host. A change of the options can come first.
func start(t testing.TB, change ...func(*aapcanvas.Options, *host.Options)) *env {
	t.Helper()
	return startOn(t, &env{root: t.TempDir()}, change...)
}

// startOn starts a host on the folders of another env.
func startOn(t testing.TB, before *env, change ...func(*aapcanvas.Options, *host.Options)) *env {
	t.Helper()
	e := &env{t: t, root: before.root}
	if err := os.MkdirAll(e.path("."), 0o755); err != nil {
		t.Fatal(err)
	}
	log := e.watchLog()
	var err error
	if e.store, err = aap.Open(aap.Options{Root: e.root, Now: before.now, Logger: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.store.Close() })
	o, ho := aapcanvas.Options{Store: e.store, Session: host.DefaultSession, Logger: log}, host.Options{Logger: log}
	o.Notify = func(_ aap.Agent, _ aap.Record, line string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.lines = append(e.lines, line)
	}
	for _, fn := range change {
		fn(&o, &ho)
	}
	if e.host, err = host.New(ho); err != nil {
		t.Fatal(err)
	}
	o.Open, o.Raise = e.host.Canvases().Open, e.host.Canvases().Raise
	e.p = aapcanvas.New(o)
	t.Cleanup(func() { _ = e.p.Close() })
	if _, err := e.host.Add(e.p); err != nil {
		t.Fatal(err)
	}
	e.host.Handle(aap.Prefix, aap.NewHandler(e.store, nil), host.RoleView, host.RoleAgent)
	return e
}

// record is a log that several goroutines write.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// watchLog returns a logger for everything in the env. When the test has ended, its log must
// have no token, address, summary, path or name of a page.
func (e *env) watchLog() *slog.Logger {
	r := &record{}
	e.t.Cleanup(func() {
		secrets := []string{e.root, "tkn=", "http:", "[CANVAS]", "User click", "User submit", ".html", "p.htm"}
		if e.host != nil {
			view, agent := e.host.Tokens()
			secrets = append(secrets, view, agent)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, secret := range secrets {
			if log := r.text.String(); strings.Contains(log, secret) {
				e.t.Errorf("%q is in the log:\n%.4000s", secret, log)
			}
		}
	})
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// serve serves the host on loopback.
func (e *env) serve() *env {
	e.t.Helper()
	hosttest.Serve(e.t, e.host)
	e.link = e.host.Link(host.DefaultSession)
	return e
}

// serveSingle serves the host without the header that browsers need for a service worker,
// so that canvases are single documents.
func (e *env) serveSingle() *env {
	e.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.host.SetAddr(ln.Addr()); err != nil {
		e.t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.ahp/sw.js" {
			http.NotFound(w, r)
			return
		}
		e.host.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	e.t.Cleanup(func() { _ = e.host.Close(); _ = srv.Close(); <-done })
	e.link = e.host.Link(host.DefaultSession)
	return e
}

// agent is the id of the one agent.
const agent = "backend-auth"

func (e *env) path(name string) string { return filepath.Join(e.root, agent, "canvas", name) }

// write writes a file, as the agent does.
func (e *env) write(name, content string) {
	e.t.Helper()
	temp := e.path(".temp")
	if err := errors.Join(os.MkdirAll(filepath.Dir(e.path(name)), 0o755), os.WriteFile(temp, []byte(content), 0o644), os.Rename(temp, e.path(name))); err != nil {
		e.t.Fatal(err)
	}
}

// upstream returns one of the pages that AAP publishes, verbatim.
func (e *env) upstream(name string) string {
	e.t.Helper()
	b, err := os.ReadFile("../testdata/pages/" + name)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

// open opens a page as instance "p".
func (e *env) open(file string) { e.openAs(host.DefaultSession, "p", file) }

func (e *env) openAs(session, id, file string) {
	e.t.Helper()
	input := ahp.MustMarshal(map[string]string{"file": file})
	if _, err := e.host.Canvases().Open(e.t.Context(), canvas.OpenArgs{Session: session, CanvasID: aapcanvas.PageID, InstanceID: id, Input: input}); err != nil {
		e.t.Fatal(err)
	}
}

// invoke runs an action and returns its value, or its error's code.
func (e *env) invoke(id, action, input string) string {
	e.t.Helper()
	v, err := e.host.Canvases().Invoke(e.t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: id, ActionName: action, Input: ahp.Value(input)})
	if ce, ok := errors.AsType[*canvas.Error](err); ok {
		return ce.Code + " " + string(ce.Details)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return string(v)
}

// records returns the stored records, the oldest first.
func (e *env) records() (records []aap.Record) {
	e.t.Helper()
	raw, _, err := e.store.List(agent, aap.Query{Limit: 1000})
	if err != nil {
		e.t.Fatal(err)
	}
	for n := len(raw) - 1; n >= 0; n-- {
		var r aap.Record
		if err := ahp.Unmarshal(raw[n], &r); err != nil {
			e.t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// wait waits until n records are stored, and returns the last.
func (e *env) wait(n int) aap.Record {
	e.t.Helper()
	var records []aap.Record
	e.until(fmt.Sprint(n, " records"), func() bool { records = e.records(); return len(records) >= n })
	if len(records) != n {
		e.t.Errorf("%d records, want %d", len(records), n)
	}
	return records[len(records)-1]
}

// until waits for a condition that only polling can find out.
func (e *env) until(what string, ok func() bool) {
	e.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			e.t.Fatalf("no %s", what)
		}
	}
}

// events returns the events of a session, as JSON.
func (e *env) events(session string) (events []canvas.Event) {
	e.t.Helper()
	page, err := e.host.Canvases().Events(e.t.Context(), session, 0, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	return page.Events
}

// view is a tab that shows the one open canvas.
type view struct {
	t     testing.TB
	tab   *webtest.Page
	frame *webtest.Page // the outer frame of the canvas
}

func (e *env) view(b *webtest.Browser) *view {
	e.t.Helper()
	v := &view{t: e.t, tab: b.Open(e.t, e.link)}
	v.frame = v.tab.Frames(e.t, 1, webtest.ContentFrame)[0]
	v.wait(`d.readyState === "complete" && w.maestro || !w.maestro && d.title === "Pages"`)
	return v
}

// prelude: w and d are the window and the document of the canvas, at and all find elements
// in it.
const prelude = `(() => { const w = document.querySelector("iframe").contentWindow, d = w.document;
	const at = (s) => d.querySelector(s), all = (s) => [...d.querySelectorAll(s)];
	return `

func (v *view) wait(expression string) {
	v.t.Helper()
	v.frame.Wait(v.t, prelude+expression+`})()`)
}

func (v *view) eval(expression string) string {
	v.t.Helper()
	return webtest.Eval[string](v.t, v.frame, prelude+`String(`+expression+`)})()`)
}

// click presses the mouse on an element.
func (v *view) click(selector string) {
	v.t.Helper()
	v.wait(`at("` + selector + `")`)
	at := webtest.Eval[[2]float64](v.t, v.frame, prelude+`(at("`+selector+`").scrollIntoView({ block: "center" }), (({ x, y, width, height }) => [x + width / 2, y + height / 2])(at("`+selector+`").getBoundingClientRect()))})()`)
	outer := webtest.Eval[[2]float64](v.t, v.tab, `(({ x, y }) => [x, y])(document.querySelector(".card iframe").getBoundingClientRect())`)
	v.tab.ClickAt(v.t, outer[0]+at[0], outer[1]+at[1])
}

// listen collects the provider's messages that this View receives, in w.received.
func (v *view) listen() {
	v.t.Helper()
	v.eval(`w.eval('import("/.ahp/canvas.js").then((m) => { window.received = []; m.onMessage((v) => received.push(v)); })')`)
	v.wait(`w.received`)
}

// bar waits until the page's bar shows a text. The bar is in a closed shadow root, so it
// is found by its accessible name.
func (v *view) hasBar(shown bool) {
	v.t.Helper()
	v.wait(fmt.Sprintf(`Boolean(at("aap-bar")) === %v`, shown))
}

func (e *env) remove(name string) {
	e.t.Helper()
	if err := os.Remove(e.path(name)); err != nil {
		e.t.Fatal(err)
	}
}

// startWith is start and serve with other options of the store.
func startWith(t *testing.T, change func(*env, *aap.Options)) *env {
	t.Helper()
	var replaced *env
	e := start(t, func(o *aapcanvas.Options, _ *host.Options) {
		root := t.TempDir()
		replaced = &env{t: t, root: root}
		if err := os.MkdirAll(replaced.path("."), 0o755); err != nil {
			t.Fatal(err)
		}
		so := aap.Options{Root: root}
		change(replaced, &so)
		s, err := aap.Open(so)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		o.Store = s
	})
	e.root = replaced.root
	return e.serve()
}

// jsonLoose decodes JSON without regard to the case of names.
func jsonLoose(text string, v any) error { return json.Unmarshal([]byte(text), v) }
