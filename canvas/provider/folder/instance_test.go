package folder

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// opened returns a host with the folder's canvas open as "one", and a page.
func opened(t *testing.T, dir string) (*canvastest.Host, canvas.OpenCanvas, *canvastest.View) {
	t.Helper()
	f := openFolder(t, dir)
	h := canvastest.New(t, engine.Options{})
	h.Register(f.Extension(), f, f.Declarations()...)
	o := h.Open(f.ID(), "one", nil)
	v := h.Connect("view")
	v.Subscribe(o.Channel)
	return h, o, v
}

// TestAction: the page answers a declared action, also after the canvas was opened with
// another input.
func TestAction(t *testing.T) {
	dir := write(t, map[string]string{"canvas.json": `{` + minimal + `,"actions":[{"name":"go"}]}`, "index.html": "x"})
	synctest.Test(t, func(t *testing.T) {
		h, o, v := opened(t, dir)
		v.Say(o.Channel, `{"x-ahp":"view/1","type":"hello"}`)
		synctest.Wait()
		h.Open("report", "one", ahp.Value(`{"year":2026}`))
		go func() {
			e := v.Await("the action", func(e ahp.ActionEnvelope) bool { return strings.Contains(string(e.Action), `"action":"go"`) })
			var a struct {
				Payload struct {
					ID string `json:"id"`
				} `json:"payload"`
			}
			if err := ahp.Unmarshal(e.Action, &a); err != nil {
				t.Error(err)
			}
			v.Say(o.Channel, `{"x-ahp":"view/1","type":"result","id":"`+a.Payload.ID+`","value":"done"}`)
		}()
		value, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: "go"})
		if err != nil || string(value) != `"done"` {
			t.Errorf("answered %s, %v", value, err)
		}
	})
}

// TestEvents: a page's message is an event for the agent.
func TestEvents(t *testing.T) {
	dir := write(t, map[string]string{"index.html": "x"})
	synctest.Test(t, func(t *testing.T) {
		h, o, v := opened(t, dir)
		v.Say(o.Channel, `{"x-ahp":"view/1","type":"hello"}`) // is not an event
		v.Say(o.Channel, `{"approved":true}`)
		v.Say(o.Channel, `"`+strings.Repeat("x", 64<<10-10)+`"`) // the event around it exceeds the limit
		synctest.Wait()
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		if err != nil || len(page.Events) != 2 {
			t.Fatalf("%d events, %v", len(page.Events), err)
		}
		if e := page.Events[0]; e.InstanceID != "one" || string(e.Event) != `{"message":{"approved":true}}` {
			t.Errorf("event %s of %s", e.Event, e.InstanceID)
		}
		if e := string(page.Events[1].Event); !strings.HasPrefix(e, `{"lost":"the payload has`) {
			t.Errorf("event %s", e)
		}
	})
}
