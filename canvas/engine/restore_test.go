package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// lives is a store and the successive hosts that use it.
type lives struct {
	t       *testing.T
	store   *channels.Memory
	ids     atomic.Int64
	allowed allow.Lists // of the next host
}

// next crashes the current host, which keeps what was committed, and starts another.
// The caller registers its provider.
func (l *lives) next() *canvastest.Host {
	l.t.Helper()
	if l.store == nil {
		l.store = channels.NewMemory()
	} else {
		l.store.Close()
		var err error
		l.store, err = l.store.Reopen()
		ok(l.t, err)
	}
	return canvastest.New(l.t, engine.Options{Store: l.store, Allowed: l.allowed, NewID: func() string { return fmt.Sprintf("n%d", l.ids.Add(1)) }})
}

// keys returns the store's keys of a kind, in order.
func (l *lives) keys(kind string) (keys []string) {
	records, err := channels.LoadRecords(context.Background(), l.store)
	ok(l.t, err)
	for _, r := range records.Under(kind) {
		keys = append(keys, r.Key)
	}
	return keys
}

func registerFake(h *canvastest.Host, f *fake) canvas.Registration {
	return h.Register(canvas.Extension{ID: "fake", Name: "Fake things"}, f, canvas.Declaration{CanvasID: "fake", DisplayName: "Fake", Actions: []canvas.Action{{Name: "act"}}})
}

// TestRestart: every opened instance exists again under the same channel. It is
// stale and has no url until its provider opens it with the same input and saved
// data (canvas/PROTOCOL.md section 5).
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		f.open = func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
			return canvas.Opened{Title: "Fake", URL: h.ContentURL("/"), HTTP: true}, nil
		}
		var channelOf []string
		for _, id := range []string{"zebra", "ant"} {
			time.Sleep(time.Millisecond)
			o, err := open(h, id, `{"n":1.50}`)
			ok(t, err)
			channelOf = append(channelOf, o.Channel)
			ok(t, f.latest().h.Save(t.Context(), []byte("saved by "+id)))
			ok(t, f.latest().h.SetStatus(t.Context(), "status of "+id))
		}
		time.Sleep(50 * time.Millisecond) // titles and statuses are written within that time

		h, f = l.next(), &fake{}
		rows := h.SessionState().OpenCanvases
		equal(t, 2, len(rows))
		for n, id := range []string{"zebra", "ant"} {
			equal(t, channelOf[n], rows[n].Channel)
			equal(t, session.Stale, rows[n].Availability)
			equal(t, "Fake", *rows[n].Title)
			st := h.State(rows[n].Channel)
			equal(t, `{"n":1.50}`, string(st.Input))
			equal(t, "status of "+id, *st.Status)
			equal(t, (*string)(nil), st.URL)
			equal(t, `{"x-ahp-canvas/http":1}`, string(st.Meta))
		}
		_, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "ant", ActionName: "act"})
		wantCode(t, err, canvas.CodeProviderUnavailable)
		saved := make(chan string, 2)
		f.open = func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
			saved <- req.InstanceID + ": " + string(req.Saved) + " " + string(req.Input)
			return canvas.Opened{URL: h.ContentURL("/")}, nil
		}
		registerFake(h, f)
		synctest.Wait()
		equal(t, 2, len(saved))
		for range 2 {
			got := <-saved
			id, _, _ := strings.Cut(got, ":")
			equal(t, id+": saved by "+id+` {"n":1.50}`, got)
		}
		for _, row := range h.SessionState().OpenCanvases {
			equal(t, session.Ready, row.Availability)
			equal(t, "Fake", *row.Title)
		}
	})
}

// TestWhatWasShown: an open writes one record. A later change of the title writes a
// second record, which is newer. Stores of earlier versions have both for every
// canvas.
func TestWhatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			return canvas.Opened{Title: "as opened", Status: "new"}, nil
		}
		for _, id := range []string{"same", "changed"} {
			time.Sleep(time.Millisecond)
			_, err := open(h, id, "")
			ok(t, err)
		}
		equal(t, 2, len(l.keys("canvas")))
		ok(t, f.latest().h.Update(t.Context(), canvas.Update{Title: ahp.Set("later"), Status: ahp.Clear[string]()}))
		time.Sleep(50 * time.Millisecond)
		equal(t, 1, len(l.keys("canvas-shown/")))
		old := `{"session":"` + canvastest.Session + `","instanceId":"old","extensionId":"e","canvasId":"c","provider":{"kind":"server"},"opened":"9999-01-01T00:00:00Z"}`
		ok(t, l.store.Commit(t.Context(), channels.Change{Key: "canvas/ahp-canvas:/old", Value: []byte(old)},
			channels.Change{Key: "canvas-shown/ahp-canvas:/old", Value: []byte(`{"title":"of before"}`)}))

		var shown []string
		h = l.next()
		for _, row := range h.SessionState().OpenCanvases {
			st := h.State(row.Channel)
			shown = append(shown, row.InstanceID+": "+*row.Title)
			equal(t, *row.Title, *st.Title)
			equal(t, row.InstanceID == "same", st.Status != nil)
		}
		equal(t, []string{"same: as opened", "changed: later", "old: of before"}, shown)
	})
}

// TestClosedStaysClosed: closing deletes all records, and an open that failed leaves
// none.
func TestClosedStaysClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		_, err := open(h, "one", "")
		ok(t, err)
		last := f.latest().h
		ok(t, last.Save(t.Context(), []byte("x")))
		ok(t, last.SetTitle(t.Context(), "changed")) // marked now, written after the close
		ok(t, closeCanvas(h, "one"))
		equal(t, canvas.ErrHandleClosed.Error(), last.Save(t.Context(), []byte("late")).Error())
		time.Sleep(time.Second)
		equal(t, nil, l.keys("canvas"))

		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			return canvas.Opened{}, errors.New("no")
		}
		if _, err := open(h, "two", ""); err == nil {
			t.Fatal("opened")
		}
		h = l.next()
		equal(t, 0, len(h.SessionState().OpenCanvases))
	})
}

// TestUnpublishedOpenIsRolledBack: an open that was committed but not published does
// not exist after a restart; a reopen that was not published leaves the old input.
func TestUnpublishedOpenIsRolledBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		reg := registerFake(h, f)
		_, err := open(h, "kept", `{"n":1}`)
		ok(t, err)
		during := &hooked{Store: l.store}
		h.Canvases.PutStore(during)
		during.then = func() { reg.SetReachable(false); reg.SetReachable(true) }
		_, err = open(h, "lost", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		during.then = func() { reg.SetReachable(false) }
		_, err = open(h, "kept", `{"n":2}`)
		wantCode(t, err, canvas.CodeProviderUnavailable)

		h = l.next()
		equal(t, 1, len(h.SessionState().OpenCanvases))
		equal(t, `{"n":1}`, string(h.State(h.SessionState().OpenCanvases[0].Channel).Input))
	})
}

// TestRollBackFails: the store rejects rolling back an open that was not published,
// and the engine tries again later. A restart before that finds the failed open and
// a newer one of the same id, and restores the newer one.
func TestRollBackFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		reg := registerFake(h, f)
		during := &hooked{Store: l.store}
		h.Canvases.PutStore(during)
		during.then = func() {
			reg.SetReachable(false)
			reg.SetReachable(true)
			h.Canvases.PutStore(full{})
		}
		_, err := open(h, "one", `{"n":1}`)
		wantCode(t, err, canvas.CodeProviderUnavailable)
		h.Canvases.PutStore(l.store)
		time.Sleep(time.Millisecond)
		o, err := open(h, "one", `{"n":2}`)
		ok(t, err)
		equal(t, 2, len(l.keys("canvas/")))
		records, err := channels.LoadRecords(t.Context(), l.store)
		ok(t, err)
		time.Sleep(time.Minute)
		equal(t, []string{o.Channel}, l.keys("canvas/"))

		crashed := &lives{t: t, store: channels.NewMemory()}
		for _, r := range records {
			ok(t, crashed.store.Commit(t.Context(), channels.Change{Key: r.Key, Value: r.Value}))
		}
		h = crashed.next()
		equal(t, 1, len(h.SessionState().OpenCanvases))
		equal(t, o.Channel, h.SessionState().OpenCanvases[0].Channel)
		equal(t, `{"n":2}`, string(h.State(o.Channel).Input))
		equal(t, []string{o.Channel}, crashed.keys("canvas/"))
	})
}

// hooked calls then once, after a successful commit.
type hooked struct {
	channels.Store
	then func()
}

func (h *hooked) Commit(ctx context.Context, changes ...channels.Change) error {
	err := h.Store.Commit(ctx, changes...)
	if then := h.then; err == nil && then != nil {
		h.then = nil
		then()
	}
	return err
}

// TestSaveDuringOpen: data saved before the open's commit is part of it; data saved
// during the commit waits until the open is published.
func TestSaveDuringOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		var handle *canvas.Handle
		f.open = func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
			handle = h
			return canvas.Opened{}, h.Save(t.Context(), []byte("early"))
		}
		registerFake(h, f)
		during := &hooked{Store: l.store}
		h.Canvases.PutStore(during)
		saved := make(chan error, 1)
		during.then = func() {
			go func() { saved <- handle.Save(t.Context(), []byte("late")) }()
			synctest.Wait()
			if len(saved) > 0 {
				t.Error("saved before its instance existed")
			}
		}
		_, err := open(h, "one", "")
		ok(t, err)
		ok(t, <-saved)
		equal(t, "late", savedOf(l))
	})
}

func savedOf(l *lives) string {
	records, err := channels.LoadRecords(context.Background(), l.store)
	ok(l.t, err)
	for _, r := range records.Under("canvas-saved/") {
		return string(r.Value)
	}
	return ""
}

// TestOneInstanceUnreachable: an instance can be stale while its provider is
// reachable.
func TestOneInstanceUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		_, err := open(h, "one", `{"n":1}`)
		ok(t, err)
		handle := f.latest().h
		_, err = open(h, "two", "")
		ok(t, err)
		handle.MarkStale()
		equal(t, session.Stale, h.SessionState().OpenCanvases[0].Availability)
		equal(t, session.Ready, h.SessionState().OpenCanvases[1].Availability)
		equal(t, canvas.ErrHandleClosed.Error(), handle.SetTitle(t.Context(), "x").Error())
		f.took()
		handle.Reopen()
		synctest.Wait()
		equal(t, []string{`open one {"n":1}`}, f.took())
		equal(t, session.Ready, h.SessionState().OpenCanvases[0].Availability)
		f.open = func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
			h.MarkStale()
			return canvas.Opened{}, nil
		}
		_, err = open(h, "three", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		equal(t, 2, len(h.SessionState().OpenCanvases))
		synctest.Wait()
		f.took()
		handle.Reopen() // not stale: no effect
		synctest.Wait()
		equal(t, nil, f.took())
	})
}

// TestRestoredClients: declarations of clients are listed after a restart, and
// clients that reconnect provide their instances again. A client that reconnects
// without the capability loses its declarations.
func TestRestoredClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := channels.NewMemory()
		ok(t, store.Commit(t.Context(), channels.Change{Key: "session/" + canvastest.Session, Value: []byte(`{"id":"s1","created":"2026-07-01T10:00:00Z","title":"T"}`)},
			channels.Change{Key: "session-client/s1/c", Value: []byte(`{"client":{"clientId":"c","tools":[],"canvasProviders":[{"canvasId":"notes","displayName":"Notes","description":"d"}]},"capabilities":["canvas"]}`)},
			channels.Change{Key: "canvas/ahp-canvas:/old", Value: []byte(`{"session":"` + canvastest.Session + `","instanceId":"old","extensionId":"client:c","canvasId":"notes","provider":{"kind":"client","clientId":"c"},"opened":"2026-07-01T10:00:00Z"}`)},
			channels.Change{Key: "session-client/other/c", Value: []byte(`{"client":{"clientId":"c","tools":[]},"capabilities":[]}`)}))
		caller := &restoredCaller{capable: true}
		h := canvastest.New(t, engine.Options{Store: store, Caller: caller})
		equal(t, 1, len(h.SessionState().Canvases))
		equal(t, "client:c", h.SessionState().Canvases[0].ExtensionID)
		_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "notes"})
		wantCode(t, err, canvas.CodeProviderUnavailable)
		caller.capable = false
		h.Canvases.Clients.ClientBack("c")
		equal(t, 0, len(h.SessionState().Canvases))

		caller.capable = true
		h = canvastest.New(t, engine.Options{Store: store, Caller: caller})
		h.Canvases.Clients.ClientBack("c")
		synctest.Wait()
		equal(t, session.Ready, h.State("ahp-canvas:/old").Availability)
		_, err = h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "notes", InstanceID: "n"})
		ok(t, err)
		records, err := channels.LoadRecords(t.Context(), store)
		ok(t, err)
		equal(t, 1, len(records.Under("session-client/"))) // the other client's record is removed
	})
}

type restoredCaller struct{ capable bool }

func (*restoredCaller) Call(context.Context, string, time.Duration, string, any) (ahp.Value, error) {
	return ahp.Value(`{}`), nil
}
func (*restoredCaller) Connection(string) *channels.Subscriber { return nil }

func (c *restoredCaller) Capable(string, string) bool { return c.capable }

// TestContentOfARestored: reading content of a canvas that its provider has not
// opened again returns canvas_provider_unavailable, for both methods
// (canvas/PROTOCOL.md section 6).
func TestContentOfARestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		o, err := open(h, "one", "")
		ok(t, err)

		h = l.next()
		v := h.Connect("v")
		v.Subscribe(o.Channel)
		_, read := readResource(h, v, o.Channel, "ahp-canvas-content:/one/", "")
		_, same := h.Canvases.Content.ResourceRead(t.Context(), v.Sub, ahp.ResourceReadParams{URI: "ahp-canvas-content:/one/"})
		_, resolved := h.Canvases.Content.ResourceResolve(t.Context(), v.Sub, ahp.ResourceURIParams{URI: "ahp-canvas-content:/one/"})
		for _, err := range []error{read, same, resolved} {
			wire := ahp.ToError(err)
			equal(t, ahp.CodeCanvasProvider, wire.Code)
			var data ahp.ProviderErrorData
			ok(t, ahp.Unmarshal(wire.Data, &data))
			equal(t, canvas.CodeProviderUnavailable, data.Code)
		}
	})
}

// TestPrivateLasts: a canvas that a person made private is private after a restart, and a
// close forgets it (canvas/PROTOCOL.md section 7.2).
func TestPrivateLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h := l.next()
		registerFake(h, &fake{})
		o, err := open(h, "one", "")
		ok(t, err)
		set := func(private bool) error {
			v := h.Connect("view")
			v.Sub.Role = "view"
			v.Subscribe(o.Channel)
			defer v.Leave()
			_, err := h.Canvases.SetPrivate(t.Context(), v.Sub, canvas.SetPrivateParams{Channel: o.Channel, IsPrivate: private})
			return err
		}
		ok(t, set(true))
		h = l.next()
		equal(t, true, h.State(o.Channel).IsPrivate)
		registerFake(h, &fake{})
		synctest.Wait()
		equal(t, true, h.State(o.Channel).IsPrivate) // its provider opened it again
		ok(t, set(false))
		equal(t, 0, len(l.keys("canvas-private/")))
		ok(t, set(true))
		ok(t, h.Canvases.Close(t.Context(), canvastest.Session, "one"))
		equal(t, 0, len(l.keys("canvas-private/")))
	})
}

// TestRestartCompletesUndoableCloses: a close that a person could still undo is complete
// after a crash, and one that was undone is not.
func TestRestartCompletesUndoableCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		v := h.Connect("view")
		for _, id := range []string{"closed", "undone", "open"} {
			time.Sleep(time.Millisecond)
			o, err := open(h, id, "")
			ok(t, err)
			v.Subscribe(o.Channel)
			if id == "open" {
				continue
			}
			v.Dispatch(o.Channel, undoable)
			synctest.Wait()
			if id == "undone" {
				ok(t, undo(h, v, o.Channel))
			}
		}
		time.Sleep(time.Second)
		equal(t, 1, len(l.keys("canvas-closing/")))

		h = l.next()
		var ids []string
		for _, ref := range h.SessionState().OpenCanvases {
			ids = append(ids, ref.InstanceID)
		}
		equal(t, []string{"undone", "open"}, ids)
		equal(t, 0, len(l.keys("canvas-closing/")))
		equal(t, 2, len(l.keys("canvas/")))
	})
}
