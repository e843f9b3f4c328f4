package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// nextLife is a service on the records of the store.
func nextLife(t *testing.T, store channels.Store, opts session.Options) (*bench, []string) {
	t.Helper()
	opts.Store = store
	b := newBench(t, opts)
	records, err := channels.LoadRecords(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	var clients []string
	err = b.svc.Restore(t.Context(), records, func(id string, caps ahp.Capabilities) { clients = append(clients, fmt.Sprint(id, caps)) })
	if err != nil {
		t.Fatal(err)
	}
	return b, clients
}

func (b *bench) state(uri string) session.State {
	b.t.Helper()
	state, ok := b.log.State(uri)
	if !ok {
		b.t.Fatalf("no session %s", uri)
	}
	return state.(session.State)
}

func (b *bench) append(uri string, a ahp.Action) {
	b.t.Helper()
	if err := b.log.Update(func(tx *channels.Tx) error { return tx.Append(uri, a) }); err != nil {
		b.t.Fatal(err)
	}
}

// TestSessionsAfterRestart: what was answered is there, what was disposed of is
// not, and what a session shows and who takes part is as it was 50 ms before.
func TestSessionsAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := channels.NewMemory()
		b, _ := nextLife(t, store, session.Options{Capabilities: func(string) ahp.Capabilities { return ahp.Capabilities{"canvas"} }})
		from := &channels.Subscriber{ClientID: "c"}
		dir := "file:///work"
		for _, uri := range []string{"ahp-session:/a", "ahp-session:/b"} {
			if _, err := b.svc.CreateSession(t.Context(), from, session.CreateSessionParams{Channel: uri, WorkingDirectory: &dir,
				ActiveClient: &session.SessionActiveClient{ClientID: "c", Tools: []session.ToolDefinition{}}}); err != nil {
				t.Fatal(err)
			}
		}
		b.append("ahp-session:/a", session.TitleChanged{Title: "Changed"})
		b.append("ahp-session:/a", session.ActiveClientSet{ActiveClient: session.SessionActiveClient{ClientID: "late", Tools: []session.ToolDefinition{{Name: "x"}}}})
		b.append("ahp-session:/a", session.ActiveClientRemoved{ClientID: "c"})
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		want := b.state("ahp-session:/a")
		if _, err := b.svc.DisposeSession(t.Context(), nil, ahp.ChannelParams{Channel: "ahp-session:/b"}); err != nil {
			t.Fatal(err)
		}

		b, clients := nextLife(t, store, session.Options{})
		if diff := cmp.Diff([]string{"late[canvas]"}, clients); diff != "" {
			t.Error(diff)
		}
		have := b.state("ahp-session:/a")
		if diff := cmp.Diff(string(ahp.MustMarshal(want)), string(ahp.MustMarshal(have))); diff != "" {
			t.Error(diff)
		}
		if _, there := b.log.State("ahp-session:/b"); there {
			t.Error("a disposed session is back")
		}
		root := b.state2(ahp.RootURI)
		if *root.ActiveSessions != 1 {
			t.Errorf("%d active sessions", *root.ActiveSessions)
		}
		list, err := b.svc.ListSessions(t.Context(), nil, session.ListSessionsParams{})
		if err != nil || len(list.Items) != 1 || list.Items[0].Title != "Changed" {
			t.Errorf("%+v %v", list, err)
		}
	})
}

func (b *bench) state2(uri string) session.RootState {
	state, _ := b.log.State(uri)
	return state.(session.RootState)
}

// choosy is a store that refuses by what is asked.
type choosy struct {
	channels.Store
	refuse func(changes []channels.Change) bool
}

func (c *choosy) Commit(ctx context.Context, changes ...channels.Change) error {
	if c.refuse != nil && c.refuse(changes) {
		return channels.ErrStoreFull
	}
	return c.Store.Commit(ctx, changes...)
}

// TestStoreRefuses: a session that cannot be kept is not made, and one whose end
// cannot be kept stays, with what lives in it.
func TestStoreRefuses(t *testing.T) {
	store := &choosy{Store: channels.NewMemory(), refuse: func([]channels.Change) bool { return true }}
	var after []bool
	b := newBench(t, session.Options{Store: store, BeforeDispose: func(context.Context, string) (func(*channels.Tx, bool), error) {
		return func(_ *channels.Tx, gone bool) { after = append(after, gone) }, nil
	}})
	s, box := b.connect(1, "c", ahp.RootURI)
	const uri = "ahp-session:/a"
	_, err := b.svc.CreateSession(t.Context(), s, session.CreateSessionParams{Channel: uri})
	if e, ok := errors.AsType[*ahp.Error](err); !ok || e.Code != ahp.CodeInternal {
		t.Fatalf("created without being kept: %v", err)
	}
	if _, there := b.log.State(uri); there || box.take() != "" {
		t.Error("somebody saw it")
	}
	store.refuse = nil
	if _, err = b.svc.CreateSession(t.Context(), s, session.CreateSessionParams{Channel: uri}); err != nil {
		t.Fatalf("the URI is still taken: %v", err)
	}
	box.take()
	store.refuse = func(changes []channels.Change) bool { return changes[0].Delete }
	_, err = b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: uri})
	const words = "the session is still there, though canvases in it may be closed: the host could not keep its end: the disk is full (-32603)"
	if err == nil || err.Error() != words {
		t.Errorf("disposed of without being kept: %v", err)
	}
	if _, there := b.log.State(uri); !there || box.take() != "" {
		t.Error("somebody saw it go")
	}
	store.refuse = nil
	if _, err = b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: uri}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]bool{false, true}, after); diff != "" {
		t.Error(diff)
	}
}

// TestOneNameOnce: a session that is on its way to disk has its name already, and its
// place among those that there may be.
func TestOneNameOnce(t *testing.T) {
	store := &choosy{Store: channels.NewMemory()}
	b := newBench(t, session.Options{Store: store, MaxSessions: 1})
	s, _ := b.connect(1, "c")
	again := map[string]error{}
	store.refuse = func([]channels.Change) bool {
		store.refuse = nil
		for _, uri := range []string{"ahp-session:/a", "ahp-session:/b"} {
			again[uri] = b.create(s, session.CreateSessionParams{Channel: uri})
		}
		return false
	}
	if err := b.create(s, session.CreateSessionParams{Channel: "ahp-session:/a"}); err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]ahp.Code{"ahp-session:/a": ahp.CodeSessionExists, "ahp-session:/b": ahp.CodePermissionDenied} {
		if err := again[uri]; !errors.Is(err, &ahp.Error{Code: want}) {
			t.Errorf("%s meanwhile: %v", uri, err)
		}
	}
}
