package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

func dispose(t *testing.T, h *canvastest.Host) error {
	t.Helper()
	_, err := h.Sessions.DisposeSession(t.Context(), nil, ahp.ChannelParams{Channel: canvastest.Session})
	return err
}

// meanwhile is a store that calls do before it commits the end of a session.
type meanwhile struct {
	channels.Store
	do func()
}

func (m meanwhile) Commit(ctx context.Context, changes ...channels.Change) error {
	if strings.HasPrefix(changes[0].Key, "session/") && changes[0].Delete {
		m.do()
	}
	return m.Store.Commit(ctx, changes...)
}

// TestDeclaredInASessionThatEnds: if a client declares canvases after a session's
// canvases were closed and before the session ends, the next session of that name
// does not list them (canvas/PROTOCOL.md section 5).
func TestDeclaredInASessionThatEnds(t *testing.T) {
	c := &clients{plain: "plain"}
	var h *canvastest.Host
	h = canvastest.New(t, engine.Options{Caller: c, Store: meanwhile{channels.NewMemory(), func() { join(t, h, "c1", editor) }}})
	ok(t, dispose(t, h))
	ok(t, h.Sessions.Ensure(canvastest.Session, "Again"))
	equal(t, "", registry(h))
	join(t, h, "c1", editor)
	equal(t, "client:c1/editor", registry(h))
}

// TestEventsOfASessionThatEnds: the end of a session wakes all waits for its events
// with an error. Events raised later are dropped, and a new session of the same name
// does not receive them.
func TestEventsOfASessionThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		var late *canvas.Handle
		f.open = func(ctx context.Context, _ canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
			late = hd
			<-ctx.Done()
			return canvas.Opened{}, ctx.Err()
		}
		go func() { _, _ = open(h, "under-way", "") }()
		waited := make(chan error)
		for range 16 {
			go func() {
				_, err := h.Canvases.Events(context.Background(), canvastest.Session, 0, time.Hour)
				waited <- err
			}()
		}
		synctest.Wait()
		begun := time.Now()
		ok(t, dispose(t, h))
		for range 16 {
			wantCode(t, <-waited, canvas.CodeSessionNotFound)
		}
		equal(t, 0, time.Since(begun))
		if err := late.Raise(ahp.Value(`"late"`)); !errors.Is(err, canvas.ErrHandleClosed) {
			t.Errorf("raised in a session that has ended: %v", err)
		}
		wantCode(t, h.Canvases.Raise(canvastest.Session, ahp.Value(`"late"`)), canvas.CodeSessionNotFound)
		equal(t, 0, engine.EventRings(h.Canvases))
		ok(t, h.Sessions.Ensure(canvastest.Session, "Again"))
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		ok(t, err)
		equal(t, 0, len(page.Events))
	})
}
