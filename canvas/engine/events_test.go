package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{Events: 3, EventBytes: 4 << 10}})
		_, err := open(h, "one", "")
		ok(t, err)
		read := func(after int64, wait time.Duration) canvas.EventPage {
			p, err := h.Canvases.Events(context.Background(), canvastest.Session, after, wait)
			ok(t, err)
			return p
		}
		equal(t, canvas.EventPage{Events: []canvas.Event{}}, read(0, 0))
		time.AfterFunc(2*time.Second, func() { _ = f.latest().h.Raise(ahp.Value(`1`)) })
		begun := time.Now()
		page := read(0, time.Minute)
		equal(t, 2*time.Second, time.Since(begun))
		equal(t, []canvas.Event{{InstanceID: "one", Time: "2000-01-01T00:00:02Z", Event: ahp.Value(`1`), Cursor: 1}}, page.Events)
		for n := 2; n < 7; n++ {
			ok(t, f.latest().h.Raise(ahp.MustMarshal(n)))
		}
		page = read(page.Next, time.Minute)
		equal(t, "2 dropped, next 6, first 4", fmt.Sprintf("%d dropped, next %d, first %s", page.Dropped, page.Next, page.Events[0].Event))
		ok(t, f.latest().h.Raise(ahp.MustMarshal(strings.Repeat("x", 3800)))) // the bytes evict the others
		page = read(5, 0)
		equal(t, "1 dropped, 1 left", fmt.Sprintf("%d dropped, %d left", page.Dropped, len(page.Events)))
		begun = time.Now()
		equal(t, 0, len(read(read(0, 0).Next, 5*time.Second).Events))
		equal(t, 5*time.Second, time.Since(begun))
		equal(t, 1, len(read(99, 0).Events)) // a cursor of an earlier host
		_, err = h.Canvases.Events(t.Context(), "ahp-session:/none", 0, 0)
		wantCode(t, err, canvas.CodeSessionNotFound)
	})
}

// TestEventsThatAreKept: the newest events, at most 1,024 or 1 MiB per session
// (canvas/PROTOCOL.md section 7).
func TestEventsThatAreKept(t *testing.T) {
	const besides = 256 // what each event counts in addition to its JSON
	for name, tc := range map[string]struct{ kept, size int }{
		"1,024": {1024, 1},
		"1 MiB": {1 << 20 / (16 << 10), 16<<10 - besides},
	} {
		t.Run(name, func(t *testing.T) {
			h, _, _ := newFake(t, engine.Options{})
			event := ahp.Value("1" + strings.Repeat(" ", tc.size-1))
			for range tc.kept {
				ok(t, h.Canvases.Raise(canvastest.Session, event))
			}
			for dropped := range int64(2) {
				page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
				ok(t, err)
				if len(page.Events) != tc.kept || page.Dropped != dropped {
					t.Errorf("%d kept, %d dropped, want %d and %d", len(page.Events), page.Dropped, tc.kept, dropped)
				}
				ok(t, h.Canvases.Raise(canvastest.Session, event))
			}
		})
	}
}

// TestRaiseOfNoCanvas: an event without a canvas reaches the session's agent too.
func TestRaiseOfNoCanvas(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{})
	ok(t, h.Canvases.Raise(canvastest.Session, ahp.Value(`{"prompt":"hello"}`)))
	wantCode(t, h.Canvases.Raise("ahp-session:/nowhere", ahp.Value(`1`)), canvas.CodeSessionNotFound)
	if h.Canvases.Raise(canvastest.Session, ahp.Value(`{`)) == nil {
		t.Error("accepted an event that is not JSON")
	}
	page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
	ok(t, err)
	equal(t, 1, len(page.Events))
	equal(t, "", page.Events[0].InstanceID)
	equal(t, `{"prompt":"hello"}`, string(page.Events[0].Event))
}

// TestEventsSinceOpen: an open begins a new stretch of events, and a withdrawn event is
// not delivered, also to a caller that waits for it with a cursor. An open that changes
// nothing begins none.
func TestEventsSinceOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		_, err := open(h, "one", "")
		ok(t, err)
		read := func(after int64) (got []string) {
			p, err := h.Canvases.Events(context.Background(), canvastest.Session, after, 0)
			ok(t, err)
			for _, e := range p.Events {
				got = append(got, fmt.Sprintf("%s@%d", e.Event, e.Cursor))
			}
			return got
		}
		handle := f.latest().h
		ok(t, handle.Raise(ahp.Value(`1`)))
		equal(t, []string{"1@1"}, read(canvas.SinceOpen))
		again, err := open(h, "one", "")
		ok(t, err)
		equal(t, int64(0), again.Cursor) // it was open already
		equal(t, []string{"1@1"}, read(canvas.SinceOpen))
		two, err := open(h, "two", "")
		ok(t, err)
		equal(t, int64(1), two.Cursor)
		equal(t, []string(nil), read(canvas.SinceOpen))
		equal(t, []string{"1@1"}, read(0))
		ok(t, f.latest().h.Raise(ahp.Value(`2`)))
		ok(t, handle.Raise(ahp.Value(`3`)))
		ok(t, handle.WithdrawEvents())
		ok(t, handle.Raise(ahp.Value(`4`)))
		equal(t, []string{"2@2", "4@4"}, read(0))
		equal(t, []string{"4@4"}, read(2))
	})
}
