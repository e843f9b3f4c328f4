package canvastest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Session is the session that a Host has.
const Session = "ahp-session:/test"

// Host is a log with sessions and canvases, and no wire.
type Host struct {
	Log      *channels.Log
	Sessions *session.Service
	Canvases *engine.Engine

	t      testing.TB
	nextID channels.ConnID
}

// New makes a host that ends with the test. Options.Log is filled in; ids are
// numbers unless NewID says otherwise. What Options.Store holds is restored; such
// a host needs a NewID that goes on where the one before it stopped.
func New(t testing.TB, opts engine.Options) *Host {
	t.Helper()
	h := &Host{Log: channels.New(channels.Options{}), t: t}
	opts.Log = h.Log
	if opts.NewID == nil {
		var mu sync.Mutex
		n := 0
		opts.NewID = func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("id%d", n)
		}
	}
	h.Canvases = engine.New(opts)
	h.Sessions = session.New(session.Options{
		Log: h.Log, Store: opts.Store, Prepare: h.Canvases.Prepare, Vet: h.Canvases.Clients.Vet, After: h.Canvases.Clients.Fold, BeforeDispose: h.Canvases.CloseSession,
	})
	if err := h.restore(opts.Store); err != nil {
		t.Fatal(err)
	}
	if err := h.Sessions.Ensure(Session, "Test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Canvases.Shutdown(ctx); err != nil {
			t.Errorf("a provider did not return after its context was done: %v", err)
		}
	})
	return h
}

// restore does what a host does at its start.
func (h *Host) restore(store channels.Store) error {
	if store == nil {
		return nil
	}
	ctx := context.Background()
	records, err := channels.LoadRecords(ctx, store)
	if err != nil {
		return err
	}
	if err := h.Canvases.Load(records); err != nil {
		return err
	}
	if err := h.Sessions.Restore(ctx, records, nil); err != nil {
		return err
	}
	return h.Canvases.Restore(ctx)
}

// Register adds a provider, or fails the test.
func (h *Host) Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) canvas.Registration {
	h.t.Helper()
	r, err := h.Canvases.Register(ext, p, set...)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// Open opens a canvas in Session, or fails the test.
func (h *Host) Open(canvasID, instanceID string, input ahp.Value) canvas.OpenCanvas {
	h.t.Helper()
	o, err := h.Canvases.Open(context.Background(), canvas.OpenArgs{Session: Session, CanvasID: canvasID, InstanceID: instanceID, Input: input})
	if err != nil {
		h.t.Fatal(err)
	}
	return o
}

// State is the state of a canvas channel, or fails the test.
func (h *Host) State(channel string) canvas.CanvasState {
	h.t.Helper()
	state, ok := h.Log.State(channel)
	if !ok {
		h.t.Fatalf("there is no channel %s", channel)
	}
	return state.(canvas.CanvasState)
}

// SessionState is the state of Session.
func (h *Host) SessionState() session.State {
	h.t.Helper()
	state, ok := h.Log.State(Session)
	if !ok {
		h.t.Fatal("the session is gone")
	}
	return state.(session.State)
}

// View is a connection that renders canvases: it keeps what it hears.
type View struct {
	Sub  *channels.Subscriber
	host *Host
	seq  int64

	mu    sync.Mutex
	heard []ahp.ActionEnvelope
	more  chan struct{}
}

// Connect makes a connection of a client with the canvas capability, or with the
// capabilities that are named.
func (h *Host) Connect(clientID string, caps ...string) *View {
	if caps == nil {
		caps = []string{ahp.CapabilityCanvas}
	}
	h.nextID++
	v := &View{host: h, more: make(chan struct{})}
	v.Sub = &channels.Subscriber{ID: h.nextID, ClientID: clientID, Version: ahp.V0_6_0, Caps: caps, Sink: v}
	return v
}

// Deliver keeps a frame; the log calls it.
func (v *View) Deliver(f *channels.Frame) {
	var n struct {
		Method string             `json:"method"`
		Params ahp.ActionEnvelope `json:"params"`
	}
	if err := ahp.Unmarshal(f.Bytes(), &n); err != nil || n.Method != ahp.ActionNotification.Name {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.heard = append(v.heard, n.Params)
	close(v.more)
	v.more = make(chan struct{})
}

// DeliverAll keeps several.
func (v *View) DeliverAll(b *channels.Batch) { b.Each(v.Deliver) }

// Subscribe subscribes and returns the snapshot, or fails the test.
func (v *View) Subscribe(uri string) ahp.Snapshot {
	v.host.t.Helper()
	snap, err := v.TrySubscribe(uri)
	if err != nil {
		v.host.t.Fatalf("subscribe %s: %v", uri, err)
	}
	return snap
}

// TrySubscribe is Subscribe with the error.
func (v *View) TrySubscribe(uri string) (snap ahp.Snapshot, err error) {
	err = v.host.Log.Update(func(tx *channels.Tx) error {
		s, err := tx.Subscribe(v.Sub, uri)
		if err == nil && s != nil {
			snap = s.Encode()
		}
		return err
	})
	return snap, err
}

// Leave ends all subscriptions, as a lost connection does.
func (v *View) Leave() { v.host.Log.Leave(v.Sub) }

// Dispatch dispatches an action, given as it stands on the wire.
func (v *View) Dispatch(uri, action string) {
	v.mu.Lock()
	v.seq++
	seq := v.seq
	v.mu.Unlock()
	err := v.host.Log.Dispatch(v.Sub, ahp.DispatchActionParams{Channel: uri, ClientSeq: seq, Action: ahp.Value(action)})
	if err != nil {
		v.host.t.Errorf("dispatch on %q: %v", uri, err)
	}
}

// Say dispatches a canvas/message.
func (v *View) Say(uri, payload string) {
	v.Dispatch(uri, `{"type":"canvas/message","payload":`+payload+`}`)
}

// Take returns and forgets what was heard.
func (v *View) Take() []ahp.ActionEnvelope {
	v.mu.Lock()
	defer v.mu.Unlock()
	heard := v.heard
	v.heard = nil
	return heard
}

// Brief returns and forgets what was heard, each as "channel action", with the
// reason where it was refused.
func (v *View) Brief() []string {
	var lines []string
	for _, e := range v.Take() {
		line := e.Channel + " " + string(e.Action)
		if e.RejectionReason != "" {
			line += " ! " + e.RejectionReason
		}
		lines = append(lines, line)
	}
	return lines
}

// Await waits until something that was heard, and is not taken, fits.
func (v *View) Await(what string, fits func(ahp.ActionEnvelope) bool) ahp.ActionEnvelope {
	v.host.t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		v.mu.Lock()
		at, more := slices.IndexFunc(v.heard, fits), v.more
		if at >= 0 {
			e := v.heard[at]
			v.heard = v.heard[at+1:]
			v.mu.Unlock()
			return e
		}
		v.mu.Unlock()
		select {
		case <-more:
		case <-deadline.C:
			v.host.t.Fatalf("waited a minute for %s", what)
		}
	}
}
