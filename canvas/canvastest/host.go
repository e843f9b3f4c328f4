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

// Session is the URI of a Host's session.
const Session = "ahp-session:/test"

// Host is a host without connections: a log with sessions and canvases.
type Host struct {
	Log      *channels.Log    // carries all channels
	Sessions *session.Service // has one session, named Session
	Canvases *engine.Engine   // runs the canvases

	t testing.TB
}

// New returns a host that shuts down when the test ends. It sets Options.Log. Ids are
// numbers unless Options.NewID is set. The host restores the contents of Options.Store; a
// second host on the same store needs a NewID that does not repeat the first one's ids.
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
			t.Errorf("a provider did not return after its context was canceled: %v", err)
		}
	})
	return h
}

// restore loads the store, as a host does at its start.
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

// State returns the state of a canvas channel, or fails the test.
func (h *Host) State(channel string) canvas.CanvasState {
	h.t.Helper()
	state, ok := h.Log.State(channel)
	if !ok {
		h.t.Fatalf("there is no channel %s", channel)
	}
	return state.(canvas.CanvasState)
}

// SessionState returns the state of Session.
func (h *Host) SessionState() session.State {
	h.t.Helper()
	state, ok := h.Log.State(Session)
	if !ok {
		h.t.Fatal("the session does not exist")
	}
	return state.(session.State)
}

// View is a connection that renders canvases. It collects the actions that it receives.
type View struct {
	// Sub is the connection in the log.
	Sub *channels.Subscriber

	host *Host
	seq  int64

	mu       sync.Mutex
	received []ahp.ActionEnvelope
	more     chan struct{}
}

// Connect returns a connection of a client. Its capabilities are caps; without caps, it
// has the canvas capability.
func (h *Host) Connect(clientID string, caps ...string) *View {
	if caps == nil {
		caps = []string{ahp.CapabilityCanvas}
	}
	v := &View{host: h, more: make(chan struct{})}
	v.Sub = &channels.Subscriber{ID: h.Log.NextConn(), ClientID: clientID, Version: ahp.V0_6_0, Caps: caps, Sink: v}
	return v
}

// Deliver implements [channels.Sink].
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
	v.received = append(v.received, n.Params)
	close(v.more)
	v.more = make(chan struct{})
}

// DeliverAll implements [channels.Sink].
func (v *View) DeliverAll(b *channels.Batch) { b.Each(v.Deliver) }

// Subscribe subscribes to a channel and returns the snapshot, or fails the test.
func (v *View) Subscribe(uri string) ahp.Snapshot {
	v.host.t.Helper()
	snap, err := v.TrySubscribe(uri)
	if err != nil {
		v.host.t.Fatalf("subscribe %s: %v", uri, err)
	}
	return snap
}

// TrySubscribe is like Subscribe, but returns the error.
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

// Dispatch dispatches an action, given as JSON.
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

// Take returns the actions that were received since the last Take or Brief.
func (v *View) Take() []ahp.ActionEnvelope {
	v.mu.Lock()
	defer v.mu.Unlock()
	received := v.received
	v.received = nil
	return received
}

// Brief is like Take, but formats each action as "channel action", and a rejected one
// as "channel action ! reason".
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

// Await waits for an action that fits, and takes all actions up to it.
func (v *View) Await(what string, fits func(ahp.ActionEnvelope) bool) ahp.ActionEnvelope {
	v.host.t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		v.mu.Lock()
		at, more := slices.IndexFunc(v.received, fits), v.more
		if at >= 0 {
			e := v.received[at]
			v.received = v.received[at+1:]
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
