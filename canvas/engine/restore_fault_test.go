package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// TestFullDisk: nothing is half done, and the errors say what to do.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		_, err := open(h, "one", `{"n":1}`)
		ok(t, err)
		ok(t, f.latest().h.Save(t.Context(), []byte("kept")))
		h.Canvases.PutStore(full{l.store})
		_, err = open(h, "two", "")
		wantCode(t, err, canvas.CodeStoreFailed)
		if !strings.Contains(err.Error(), "disk is full") {
			t.Errorf("%v: does not say why", err)
		}
		_, err = open(h, "one", `{"n":2}`)
		wantCode(t, err, canvas.CodeStoreFailed)
		equal(t, `{"n":1}`, string(h.State(h.SessionState().OpenCanvases[0].Channel).Input))
		wantCode(t, f.latest().h.Save(t.Context(), []byte("more")), canvas.CodeStoreFailed)
		e := wantCode(t, closeCanvas(h, "one"), canvas.CodeStoreFailed)
		equal(t, "the canvas is stale now and still listed, because the host could not store its end: state: the disk is full", e.Message)

		h = l.next()
		equal(t, 1, len(h.SessionState().OpenCanvases))
		equal(t, "kept", savedOf(l))
	})
}

// TestDisposeOnFullDisk: the session stays, and canvases open in it again.
func TestDisposeOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h, f := l.next(), &fake{}
		registerFake(h, f)
		_, err := open(h, "one", "")
		ok(t, err)
		h.Canvases.PutStore(full{l.store})
		equal(t, `the session still exists, but canvases in it might be closed: canvas "one": the canvas is stale now and still listed, `+
			`because the host could not store its end: state: the disk is full (canvas_store_failed) (-32603)`, fmt.Sprint(dispose(t, h)))
		h.Canvases.PutStore(l.store)
		_, err = open(h, "two", "")
		ok(t, err)
		ok(t, dispose(t, h))
		equal(t, nil, l.keys("canvas"))
		equal(t, nil, l.keys("session"))
	})
}

type full struct{ channels.Store }

func (full) Commit(context.Context, ...channels.Change) error {
	return fmt.Errorf("state: %w", channels.ErrStoreFull)
}

// TestDamagedRecords: the error names the record.
func TestDamagedRecords(t *testing.T) {
	for key, value := range map[string]string{
		"canvas/ahp-canvas:/x":       `{"session":1}`,
		"canvas-shown/ahp-canvas:/y": `[]`,
		"session/ahp-session:/test":  `{}`,
	} {
		store := channels.NewMemory()
		changes := []channels.Change{{Key: key, Value: []byte(value)}}
		if strings.HasPrefix(key, "canvas-shown") {
			changes = append(changes, channels.Change{Key: "canvas/ahp-canvas:/y", Value: []byte(
				`{"session":"s","instanceId":"i","extensionId":"e","canvasId":"c","provider":{"kind":"server"},"opened":"2026-07-01T10:00:00Z"}`)})
		}
		ok(t, store.Commit(t.Context(), changes...))
		records, err := channels.LoadRecords(t.Context(), store)
		ok(t, err)
		h := canvastest.New(t, engine.Options{})
		err = h.Canvases.Load(records)
		if err == nil {
			err = h.Sessions.Restore(t.Context(), records, nil)
		}
		if !errors.Is(err, channels.ErrStoreDamaged) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
}
