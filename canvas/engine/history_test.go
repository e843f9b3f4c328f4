package engine_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// past is a History that keeps lines.
type past struct {
	mu    sync.Mutex
	lines []string
}

func (p *past) Add(_ string, one canvas.Happening) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who := strings.TrimSpace(strings.Join([]string{one.Who.Kind, one.Who.Name, one.Who.ClientID}, " "))
	p.lines = append(p.lines, who+": "+one.What+" ("+one.Title+")")
}

func (p *past) Drop(session string) { p.lines = append(p.lines, "dropped "+session) }

func (p *past) took() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	return lines
}

// TestHistory: each line names who did it: the agent, the person by name, the canvas or the
// host.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &past{}
		h, f, reg := newFake(t, engine.Options{History: p})
		ctx := canvas.WithCaller(t.Context(), "claude")
		open := func(id string) canvas.OpenCanvas {
			o, err := h.Canvases.Open(ctx, canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", InstanceID: id})
			ok(t, err)
			return o
		}
		o := open("one")
		open("one") // changes nothing
		handle := f.latest().h
		v := h.Connect("page")
		v.Subscribe(o.Channel)
		h.Log.View(func(*channels.ReadTx) { v.Sub.Name = "Ann" })
		_, err := h.Canvases.Invoke(ctx, canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: "go"})
		ok(t, err)
		f.invoke = func(_ context.Context, h *canvas.Handle, _ string, _ ahp.Value) (ahp.Value, error) {
			return nil, h.Note(canvas.ByAgent, "moved “Milk”")
		}
		_, err = h.Canvases.Invoke(ctx, canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: "go"})
		ok(t, err)
		ok(t, handle.Note(canvas.View{ClientID: "page", Role: "view"}.Actor(), "ticked “Milk”"))
		ok(t, handle.Note(canvas.View{ClientID: "bot", Role: "agent"}.Actor(), "ticked it too"))
		ok(t, handle.SetTitle(t.Context(), "New"))
		ok(t, handle.SetStatus(t.Context(), "not noted"))
		_, err = h.Canvases.SetPrivate(t.Context(), v.Sub, canvas.SetPrivateParams{Channel: o.Channel, IsPrivate: true})
		ok(t, err)
		reg.SetReachable(false)
		reg.SetReachable(true)
		synctest.Wait()
		v.Dispatch(o.Channel, undoable)
		time.Sleep(time.Minute)
		open("two")
		ok(t, h.Canvases.Close(ctx, canvastest.Session, "two"))
		v.Subscribe(canvastest.Session)
		_, err = h.Canvases.PersonOpen(ctx, v.Sub, canvas.PersonOpenParams{Channel: canvastest.Session, CanvasID: "fake"})
		ok(t, err)
		ok(t, dispose(t, h))
		equal(t, []string{
			"agent claude: opened the canvas (Fake)",
			"agent claude: used “go” (Fake)",
			"agent claude: moved “Milk” (Fake)",
			"person Ann page: ticked “Milk” (Fake)",
			"agent claude: ticked it too (Fake)",
			"canvas: changed its title (New)",
			"person Ann page: made the canvas private: agents cannot look at it (New)",
			"host: lost the connection to the canvas's provider (New)",
			"canvas: changed its title (Fake)",
			"host: reached the canvas's provider again (Fake)",
			"person Ann page: closed the canvas (Fake)",
			"agent claude: opened the canvas (Fake)",
			"agent claude: closed the canvas (Fake)",
			"person Ann page: opened the canvas (Fake)",
			"dropped " + canvastest.Session,
		}, p.took())
	})
}

// TestAnnouncements: attention and progress are in the state, at most four changes a second,
// and end with the handle.
func TestAnnouncements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		f.open = func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
			return canvas.Opened{}, h.Attention("Approve\nit \u202enow")
		}
		o, err := open(h, "one", "")
		ok(t, err)
		synctest.Wait()
		meta := func(want string) {
			t.Helper()
			equal(t, want, string(h.State(o.Channel).Meta))
		}
		const waits = `{"x-ahp-canvas/attention":{"reason":"Approve it now","since":"2000-01-01T00:00:00Z"}}`
		meta(waits)
		v, handle := h.Connect("page"), f.latest().h
		v.Subscribe(o.Channel)
		time.Sleep(time.Second)
		ok(t, handle.Attention("Approve it now")) // not news
		equal(t, nil, v.Brief())
		time.Sleep(time.Second)
		for n := range 1000 {
			ok(t, handle.Progress(float64(n), 1000, fmt.Sprint("file ", n)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if n := len(v.Brief()); n < 4 || n > 6 {
			t.Errorf("%d changes in a second, want about four", n)
		}
		meta(waits[:len(waits)-1] + `,"x-ahp-canvas/progress":{"done":999,"total":1000,"text":"file 999"}}`)
		ok(t, handle.Progress(1000, 1000, "done"))
		ok(t, handle.Attention(""))
		time.Sleep(time.Second)
		meta("")
		for _, bad := range [][2]float64{{-1, 1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
			if handle.Progress(bad[0], bad[1], "") == nil {
				t.Errorf("progress of %v was taken", bad)
			}
		}
		ok(t, handle.Progress(1, 2, strings.Repeat("x", 300)))
		ok(t, handle.Attention("again"))
		reg.SetReachable(false)
		time.Sleep(time.Second)
		meta("")
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		ok(t, err)
		equal(t, 0, len(page.Events)) // the agent's events are not for this
	})
}
