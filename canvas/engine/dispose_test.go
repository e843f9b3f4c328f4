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

// meanwhile is a store that does something before it keeps a session's end.
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

// TestDeclaredInASessionThatEnds: what a client declares between the close of a
// session's canvases and the session's end is not there when a session of the
// same name begins (canvas.md section 5: declarations leave with their client).
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

// TestWhoWaitsForEventsHearsOfTheEnd: at once, and that the session is gone. What is
// said when it is gone comes to nobody, also not in a session of the same name.
func TestWhoWaitsForEventsHearsOfTheEnd(t *testing.T) {
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
			t.Errorf("said in a session that is gone: %v", err)
		}
		wantCode(t, h.Canvases.Raise(canvastest.Session, ahp.Value(`"late"`)), canvas.CodeSessionNotFound)
		equal(t, 0, engine.EventRings(h.Canvases))
		ok(t, h.Sessions.Ensure(canvastest.Session, "Again"))
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		ok(t, err)
		equal(t, 0, len(page.Events))
	})
}
