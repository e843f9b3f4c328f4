package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestTitlesAreMirroredAtARate: at most twenty titles a second reach the catalog,
// the last one follows late, and a change of availability does not wait.
func TestTitlesAreMirroredAtARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		o, err := open(h, "one", "")
		ok(t, err)
		v := h.Connect("v")
		v.Subscribe(canvastest.Session)
		rewrite := func(n int) {
			for i := range n {
				ok(t, f.latest().h.SetTitle(t.Context(), fmt.Sprintf("%s %d", time.Now().Format("05.000"), i)))
			}
		}
		title := func() string { return *h.SessionState().OpenCanvases[0].Title }
		rewrite(200)
		equal(t, 20, len(v.Take()))
		equal(t, "00.000 19", title())
		equal(t, "00.000 199", *h.State(o.Channel).Title)
		time.Sleep(time.Second)
		synctest.Wait()
		equal(t, 1, len(v.Take()))
		equal(t, "00.000 199", title())
		time.Sleep(500 * time.Millisecond)
		rewrite(30) // one was written half a second ago
		equal(t, 19, len(v.Take()))
		time.Sleep(600 * time.Millisecond)
		equal(t, "01.500 29", title())
		rewrite(50)
		v.Take()
		reg.SetReachable(false)
		equal(t, 1, len(v.Take()))
		equal(t, "02.100 49", title()) // a change of availability includes the title
		time.Sleep(time.Minute)
		equal(t, 0, len(v.Take()))
	})
}
