package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// fake is a provider. A test can block, fail and inspect each of its calls.
type fake struct {
	mu    sync.Mutex
	calls []string
	last  *fakeInstance

	// Each can be nil. They run in the goroutine of the call.
	open   func(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error)
	invoke func(ctx context.Context, h *canvas.Handle, action string, input ahp.Value) (ahp.Value, error)
	close  func(ctx context.Context) error
	heard  func(from canvas.View, payload ahp.Value)
	read   func(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error)
}

type fakeInstance struct {
	fake *fake
	id   string
	h    *canvas.Handle
	req  canvas.OpenRequest
}

func (f *fake) note(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

// latest returns the instance that was opened last.
func (f *fake) latest() *fakeInstance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// took returns the calls since the last took.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

func (f *fake) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	f.note("open " + req.InstanceID + " " + string(req.Input))
	i := &fakeInstance{f, req.InstanceID, h, req}
	f.mu.Lock()
	f.last = i
	f.mu.Unlock()
	if f.open != nil {
		o, err := f.open(ctx, req, h)
		if o.Instance == nil && err == nil {
			o.Instance = i
		}
		return o, err
	}
	return canvas.Opened{Instance: i, Title: "Fake"}, nil
}

func (i *fakeInstance) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	i.fake.note("invoke " + i.id + " " + action)
	if i.fake.invoke == nil {
		return ahp.Value(`"done"`), nil
	}
	return i.fake.invoke(ctx, i.h, action, input)
}

func (i *fakeInstance) Close(ctx context.Context) error {
	i.fake.note("close " + i.id)
	if i.fake.close == nil {
		return nil
	}
	return i.fake.close(ctx)
}

func (i *fakeInstance) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	i.fake.note("message " + from.ClientID + " " + string(payload))
	if i.fake.heard != nil {
		i.fake.heard(from, payload)
	}
}

func (i *fakeInstance) ViewGone(from canvas.View) { i.fake.note("gone " + from.ClientID) }

func (i *fakeInstance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if i.fake.read == nil {
		return canvas.Content{}, ahp.ErrNotFound
	}
	return i.fake.read(ctx, req)
}

var fakeDeclaration = canvas.Declaration{
	CanvasID: "fake", DisplayName: "Fake", Description: "For tests.",
	InputSchema: ahp.Value(`{"type":"object","properties":{"n":{"type":"integer"},"who":{"type":"object","required":["name"]}}}`),
	Actions: []canvas.Action{
		{Name: "go"}, {Name: "slow"},
		{Name: "count", InputSchema: ahp.Value(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)},
	},
}

// newFake returns a host with a fake provider.
func newFake(t *testing.T, opts engine.Options) (*canvastest.Host, *fake, canvas.Registration) {
	t.Helper()
	h, f := canvastest.New(t, opts), &fake{}
	return h, f, h.Register(canvas.Extension{ID: "ext", Name: "Ext"}, f, fakeDeclaration)
}

func open(h *canvastest.Host, id, input string) (canvas.OpenCanvas, error) {
	a := canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", InstanceID: id}
	if input != "" {
		a.Input = ahp.Value(input)
	}
	return h.Canvases.Open(context.Background(), a)
}

func invoke(h *canvastest.Host, id, action, input string) (ahp.Value, error) {
	a := canvas.InvokeArgs{Session: canvastest.Session, InstanceID: id, ActionName: action}
	if input != "" {
		a.Input = ahp.Value(input)
	}
	return h.Canvases.Invoke(context.Background(), a)
}

func closeCanvas(h *canvastest.Host, id string) error {
	return h.Canvases.Close(context.Background(), canvastest.Session, id)
}

func wantCode(t *testing.T, err error, code string) *canvas.Error {
	t.Helper()
	e, ok := err.(*canvas.Error)
	if !ok || e.Code != code {
		t.Fatalf("want %s, have %v", code, err)
	}
	return e
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +have)\n%s", diff)
	}
}
