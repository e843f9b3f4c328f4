package mcpapp_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/process"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// env is a host with servers.
type env struct {
	t      testing.TB
	host   *host.Host
	runner *mcpapp.Runner
	logs   string
	calls  string // the file of a fake server's calls

	mu   sync.Mutex
	open map[string]canvas.Instance // by instance id
}

// Register registers a provider whose instances the test can reach.
func (e *env) Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error) {
	return e.host.Canvases().Register(ext, canvas.Func(func(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		o, err := p.Open(ctx, req, h)
		if err == nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.open[req.InstanceID] = o.Instance
		}
		return o, err
	}), set...)
}

// start starts a host that listens, without servers.
func start(t testing.TB, change ...func(*mcpapp.Options, *host.Options)) *env {
	t.Helper()
	e := &env{t: t, logs: t.TempDir(), calls: filepath.Join(t.TempDir(), "calls"), open: map[string]canvas.Instance{}}
	o := mcpapp.Options{
		LogDir: e.logs, Start: time.Minute, OpenWait: 20 * time.Second, Teardown: 5 * time.Second,
		Backoff: func() backoff.BackOff { return backoff.NewConstantBackOff(10 * time.Millisecond) },
	}
	ho := host.Options{}
	for _, fn := range change {
		fn(&o, &ho)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for n, origin := range ho.Origins {
		ho.Origins[n] = strings.ReplaceAll(origin, "{port}", port)
	}
	if e.host, err = host.New(ho); err != nil {
		t.Fatal(err)
	}
	o.Service = e
	if e.runner, err = mcpapp.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.runner.Close)
	hosttest.ServeOn(t, e.host, ln)
	return e
}

// add adds a server and waits for its start.
func (e *env) add(s mcpapp.Server) *mcpapp.Running {
	e.t.Helper()
	g, err := e.runner.Add(s)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := g.WaitStarted(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	return g
}

// openCanvas opens a canvas under its own name.
func (e *env) openCanvas(canvasID, input string) (canvas.OpenCanvas, error) {
	args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: canvasID, InstanceID: canvasID}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	return e.host.Canvases().Open(e.t.Context(), args)
}

func (e *env) mustOpen(canvasID, input string) canvas.OpenCanvas {
	e.t.Helper()
	o, err := e.openCanvas(canvasID, input)
	if err != nil {
		e.t.Fatal(err)
	}
	return o
}

func (e *env) invoke(instance, action, input string) (string, error) {
	args := canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: instance, ActionName: action}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	v, err := e.host.Canvases().Invoke(e.t.Context(), args)
	return string(v), err
}

// fake returns a fake server, which runs in a process.
func (e *env) fake(mode string) mcpapp.Server {
	return mcpapp.Server{Name: "fake", Command: []string{os.Args[0]}, Env: map[string]string{"FAKE_MCP_SERVER": mode, "FAKE_CALLS": e.calls, "FAKE_KEY": "canary-of-the-environment"}}
}

// called returns the calls that the fake server has seen.
func (e *env) called() string {
	b, err := os.ReadFile(e.calls)
	if err != nil && !os.IsNotExist(err) {
		e.t.Fatal(err)
	}
	return string(b)
}

// request sends a request to an open canvas, as its page does.
func (e *env) request(instance, method, path, body string) (int, http.Header, string) {
	e.mu.Lock()
	app := e.open[instance].(canvas.WebApp)
	e.mu.Unlock()
	w := httptest.NewRecorder()
	app.ServeApp(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Header(), strings.TrimSpace(w.Body.String())
}

// rpc sends a JSON-RPC request of a View.
func (e *env) rpc(instance, body string) string {
	_, _, answer := e.request(instance, "POST", "/-/rpc?n=1", body)
	return answer
}

// await waits for a condition.
func (e *env) await(what string, ok func() bool) {
	e.t.Helper()
	for end := time.Now().Add(webtest.Timeout); !ok(); {
		if time.Now().After(end) {
			e.t.Fatalf("waited in vain for %s", what)
		}
		runtime.Gosched()
		<-time.After(5 * time.Millisecond)
	}
}

// availability returns whether an open canvas is ready or stale.
func (e *env) availability(instance string) string {
	list, err := e.host.Canvases().ListOpen(host.DefaultSession)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, o := range list {
		if o.InstanceID == instance {
			return string(o.Availability)
		}
	}
	return ""
}

// log returns a server's log.
func (e *env) log(name string) string {
	text, err := process.ReadLog(e.logs, name)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

// awaitEvent waits for an event that contains a text.
func (e *env) awaitEvent(text string) string {
	e.t.Helper()
	var all []string
	for after := int64(0); ; {
		p, err := e.host.Canvases().Events(e.t.Context(), host.DefaultSession, after, webtest.Timeout)
		if err != nil || len(p.Events) == 0 {
			e.t.Fatalf("no event has %s: %s, %v", text, all, err)
		}
		for _, event := range p.Events {
			if all = append(all, string(event.Event)); strings.Contains(string(event.Event), text) {
				return string(event.Event)
			}
		}
		after = p.Next
	}
}

// viewer is a tab that shows the only open canvas.
type viewer struct {
	t          testing.TB
	tab, frame *webtest.Page
}

func (e *env) view(b *webtest.Browser) *viewer {
	e.t.Helper()
	return viewAt(e.t, b, e.host.Link(host.DefaultSession))
}

func viewAt(t testing.TB, b *webtest.Browser, link string) *viewer {
	t.Helper()
	tab := b.Open(t, link)
	return &viewer{t, tab, tab.Frames(t, 1, webtest.ContentFrame)[0]}
}

// prelude defines h, the wrapper's document, and w and d, the View's window and document.
const prelude = `(() => { const h = document.querySelector("iframe").contentDocument, f = h.querySelector("iframe"), w = f?.contentWindow, d = w?.document;
	return `

func (v *viewer) wait(expression string) {
	v.t.Helper()
	if !v.frame.WaitAtMost(webtest.Timeout, prelude+`(`+expression+`)})()`) {
		v.t.Fatalf("never true: %s; the page shows %.500s | %.500s", expression, v.eval("h.body.innerText"), v.eval("d?.body?.innerText"))
	}
}

func (v *viewer) eval(expression string) string {
	v.t.Helper()
	return webtest.Eval[string](v.t, v.frame, prelude+`String(`+expression+`)})()`)
}

// click clicks with the mouse on an element of the View, as a person does.
func (v *viewer) click(element string) {
	v.t.Helper()
	x, y := v.place(element)
	v.tab.ClickAt(v.t, x, y)
}

// place scrolls to an element of the View, and returns where its middle is in the tab.
func (v *viewer) place(element string) (x, y float64) {
	v.t.Helper()
	in := webtest.Eval[[2]float64](v.t, v.frame, prelude+`(() => { const e = `+element+`; e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect(), o = f.getBoundingClientRect(); return [o.x + r.x + r.width / 2, o.y + r.y + r.height / 2]; })()})()`)
	out := webtest.Eval[[2]float64](v.t, v.tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x, r.y]; })()`)
	return in[0] + out[0], in[1] + out[1]
}

// save saves a screenshot if the variable SCREENSHOTS names a folder.
func (v *viewer) save(name string) {
	v.t.Helper()
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "mcpapp-"+name+".png"), v.tab.Screenshot(v.t), 0o644); err != nil {
			v.t.Fatal(err)
		}
	}
}
