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

// restart returns a service that has restored the records of a store, and the clients
// that it expects.
func restart(t *testing.T, store channels.Store, opts session.Options) (*bench, []string) {
	t.Helper()
	opts.Store = store
	b := newBench(t, opts)
	records, err := channels.LoadRecords(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	var clients []string
	err = b.svc.Restore(t.Context(), records, func(id, token string, caps ahp.Capabilities) { clients = append(clients, fmt.Sprint(id, token, caps)) })
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

// TestSessionsAfterRestart: after a restart, created sessions exist and disposed ones do
// not. States and active clients are at most 50 ms old.
func TestSessionsAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := channels.NewMemory()
		b, _ := restart(t, store, session.Options{
			Capabilities: func(string) ahp.Capabilities { return ahp.Capabilities{"canvas"} },
			Token:        func(id string) string { return "-token-of-" + id },
		})
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

		b, clients := restart(t, store, session.Options{})
		if diff := cmp.Diff([]string{"late-token-of-late[canvas]"}, clients); diff != "" {
			t.Error(diff)
		}
		have := b.state("ahp-session:/a")
		if diff := cmp.Diff(string(ahp.MustMarshal(want)), string(ahp.MustMarshal(have))); diff != "" {
			t.Error(diff)
		}
		if _, exists := b.log.State("ahp-session:/b"); exists {
			t.Error("a disposed session was restored")
		}
		root := b.root(ahp.RootURI)
		if *root.ActiveSessions != 1 {
			t.Errorf("%d active sessions", *root.ActiveSessions)
		}
		list, err := b.svc.ListSessions(t.Context(), nil, session.ListSessionsParams{})
		if err != nil || len(list.Items) != 1 || list.Items[0].Title != "Changed" {
			t.Errorf("%+v %v", list, err)
		}
	})
}

func (b *bench) root(uri string) session.RootState {
	state, _ := b.log.State(uri)
	return state.(session.RootState)
}

// failing is a store whose commits fail if refuse returns true.
type failing struct {
	channels.Store
	refuse func(changes []channels.Change) bool
}

func (f *failing) Commit(ctx context.Context, changes ...channels.Change) error {
	if f.refuse != nil && f.refuse(changes) {
		return channels.ErrStoreFull
	}
	return f.Store.Commit(ctx, changes...)
}

// TestStoreFails: a session that cannot be stored is not created, and one whose removal
// cannot be stored is not removed.
func TestStoreFails(t *testing.T) {
	store := &failing{Store: channels.NewMemory(), refuse: func([]channels.Change) bool { return true }}
	var after []bool
	b := newBench(t, session.Options{Store: store, BeforeDispose: func(context.Context, string) (func(*channels.Tx, bool), error) {
		return func(_ *channels.Tx, gone bool) { after = append(after, gone) }, nil
	}})
	s, box := b.connect(1, "c", ahp.RootURI)
	const uri = "ahp-session:/a"
	_, err := b.svc.CreateSession(t.Context(), s, session.CreateSessionParams{Channel: uri})
	if e, ok := errors.AsType[*ahp.Error](err); !ok || e.Code != ahp.CodeInternal {
		t.Fatalf("create with a full store: %v", err)
	}
	if _, exists := b.log.State(uri); exists || box.take() != "" {
		t.Error("the session was announced")
	}
	store.refuse = nil
	if _, err = b.svc.CreateSession(t.Context(), s, session.CreateSessionParams{Channel: uri}); err != nil {
		t.Fatalf("create after the store works again: %v", err)
	}
	box.take()
	store.refuse = func(changes []channels.Change) bool { return changes[0].Delete }
	_, err = b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: uri})
	const text = "the session still exists, but canvases in it might be closed: the host could not store its removal: the disk is full (-32603)"
	if err == nil || err.Error() != text {
		t.Errorf("dispose with a full store: %v", err)
	}
	if _, exists := b.log.State(uri); !exists || box.take() != "" {
		t.Error("the removal was announced")
	}
	store.refuse = nil
	if _, err = b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: uri}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]bool{false, true}, after); diff != "" {
		t.Error(diff)
	}
}

// TestUnpublished: the record of a session that was committed and cannot be published is
// removed, and its URI can be used again.
func TestUnpublished(t *testing.T) {
	store := &failing{Store: channels.NewMemory()}
	b := newBench(t, session.Options{Store: store})
	s, _ := b.connect(1, "c")
	const uri = "ahp-session:/a"
	store.refuse = func([]channels.Change) bool { // another channel takes the URI meanwhile
		store.refuse = nil
		if err := b.log.Update(func(tx *channels.Tx) error { return tx.Create(uri, "", session.State{}) }); err != nil {
			t.Error(err)
		}
		return false
	}
	if err := b.create(s, session.CreateSessionParams{Channel: uri}); !errors.Is(err, channels.ErrExists) {
		t.Errorf("create: %v", err)
	}
	records, err := channels.LoadRecords(t.Context(), store)
	if err != nil || len(records) > 0 {
		t.Errorf("records: %v %v", records, err)
	}
	if err := b.log.Update(func(tx *channels.Tx) error { tx.Remove(uri); return nil }); err != nil {
		t.Error(err)
	}
	if err := b.create(s, session.CreateSessionParams{Channel: uri}); err != nil {
		t.Errorf("create again: %v", err)
	}
}

// TestReserved: a session that is being committed has its URI already, and counts for the
// limit.
func TestReserved(t *testing.T) {
	store := &failing{Store: channels.NewMemory()}
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
