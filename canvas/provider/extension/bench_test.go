package extension

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// bench is a host with a runner that uses the test binary as Node.
type bench struct {
	*canvastest.Host
	runner *Runner
	t      *testing.T
	pages  fakePages
}

func newBench(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	return newBenchOn(t, canvastest.New(t, engine.Options{}), change)
}

func newBenchOn(t *testing.T, h *canvastest.Host, change func(*Options)) *bench {
	t.Helper()
	b := &bench{Host: h, t: t}
	o := Options{
		Service: b.Canvases, Session: canvastest.Session, Version: "test", Node: os.Args[0],
		Env:        append(os.Environ(), "FAKE_EXTENSION=1", "AHP_CANVAS_TOKEN=secret"),
		Backoff:    func() backoff.BackOff { return backoff.NewConstantBackOff(20 * time.Millisecond) },
		newPage:    b.pages.open,
		checkOwner: func(context.Context, *program.Group, string) error { return nil }, // no server listens
	}
	if change != nil {
		change(&o)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b.runner = r
	t.Cleanup(r.Close)
	return b
}

// add starts an extension with a script, and waits until it has started or failed.
func (b *bench) add(name, script string) (*Extension, error) {
	b.t.Helper()
	x, err := b.runner.Add(folderOf(b.t, name, script))
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	return x, x.WaitStarted(ctx)
}

// serving is like add, but fails the test if the extension does not start.
func (b *bench) serving(name, script string) *Extension {
	b.t.Helper()
	x, err := b.add(name, script)
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

func (b *bench) invoke(instance, action, input string) (ahp.Value, error) {
	var in ahp.Value
	if input != "" {
		in = ahp.Value(input)
	}
	return b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: instance, ActionName: action, Input: in})
}

// awaitAvailability waits until a canvas has an availability.
func (b *bench) awaitAvailability(v *canvastest.View, want session.CanvasAvailability) {
	b.t.Helper()
	v.Await(string(want), func(e ahp.ActionEnvelope) bool {
		var u canvas.Updated
		return ahp.Unmarshal(e.Action, &u) == nil && u.Availability != nil && *u.Availability == want
	})
}

// requestsOf returns the requests that the extension received, one per line.
func requestsOf(x *Extension) string {
	data, _ := os.ReadFile(filepath.Join(x.folder.Dir, "requests"))
	return string(data)
}

// fakePages replaces the pages of canvas/provider/loopback.
type fakePages struct {
	mu    sync.Mutex
	pages []*fakePage
}

type fakePage struct {
	raw, url    string
	closed      bool
	all         *fakePages
	unreachable func(error)
}

func (f *fakePages) open(raw string, h *canvas.Handle, unreachable func(error)) (page, error) {
	if strings.Contains(raw, "refused") {
		return nil, errors.New("the URL is rejected")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &fakePage{raw: raw, url: h.ContentURL("/"), all: f, unreachable: unreachable}
	f.pages = append(f.pages, p)
	return p, nil
}

func (f *fakePages) brief() (lines []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pages {
		line := p.raw
		if p.closed {
			line += " closed"
		}
		lines = append(lines, line)
	}
	return lines
}

func (p *fakePage) URL() string { return p.url }
func (p *fakePage) Read(context.Context, canvas.ReadRequest) (canvas.Content, error) {
	return canvas.Content{Data: []byte(p.raw)}, nil
}
func (p *fakePage) Message(context.Context, canvas.View, ahp.Value) {}
func (p *fakePage) ViewGone(canvas.View)                            {}
func (p *fakePage) Close() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.closed = true
}

func code(err error) string {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code
	}
	return ""
}

// withoutRestart sets a backoff that never starts a process again within a test.
func withoutRestart(o *Options) {
	o.Backoff = func() backoff.BackOff { return backoff.NewConstantBackOff(time.Hour) }
}

// eventually fails the test unless ok returns true within ten seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatalf("waited ten seconds for %s", what)
}

func (b *bench) number(raw ahp.Value, err error) int {
	b.t.Helper()
	n, convErr := strconv.Atoi(string(raw))
	if err != nil || convErr != nil {
		b.t.Fatalf("no number: %s, %v", raw, errors.Join(err, convErr))
	}
	return n
}
