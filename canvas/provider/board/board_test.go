package board

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

func TestProvider(t *testing.T) {
	canvastest.TestProvider(t, canvastest.Config{
		Provider: New(), Declaration: New().Declarations()[0],
		Input: ahp.Value(`{"title":"Trip"}`), Other: ahp.Value(`{"title":"Journey","lists":["Later"]}`),
		Action: "add_card", ActionInput: ahp.Value(`{"list":"todo","title":"Pack"}`), Path: "/",
		Decisions: []string{`{"sample":"do","ref":1,"action":"remove_list","input":{"list":"Done"}}`},
	})
}

func newHost(t *testing.T) (*canvastest.Host, canvas.Registration) {
	t.Helper()
	h := canvastest.New(t, engine.Options{})
	return h, h.Register(canvas.Extension{ID: CanvasID, Name: "Board"}, New(), New().Declarations()...)
}

func invoke(t *testing.T, h *canvastest.Host, name, input string) string {
	t.Helper()
	v, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "b", ActionName: name, Input: ahp.Value(input)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, input, err)
	}
	return string(v)
}

// received returns the provider's messages to a View since the last call, without the
// echoes of the View's own.
func received(v *canvastest.View) (payloads []string) {
	for _, e := range v.Take() {
		p, ok := strings.CutPrefix(string(e.Action), `{"type":"canvas/message","payload":`)
		if ok && e.Origin == nil {
			payloads = append(payloads, strings.TrimSuffix(p, "}"))
		}
	}
	return payloads
}

// want checks that each message contains a text.
func want(t *testing.T, what string, have []string, want ...string) {
	t.Helper()
	if len(have) != len(want) {
		t.Fatalf("%s: %d messages, want %d: %q", what, len(have), len(want), have)
	}
	for i := range want {
		if !strings.Contains(have[i], want[i]) {
			t.Errorf("%s: %s, want %s", what, have[i], want[i])
		}
	}
}

// TestTwoViews: both Views receive each change, only the View that said hello receives
// the answer, and of two conflicting requests the first succeeds.
func TestTwoViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHost(t)
		o := h.Open(CanvasID, "b", nil)
		one, two := h.Connect("one"), h.Connect("two")
		one.Subscribe(o.Channel)
		two.Subscribe(o.Channel)
		one.Say(o.Channel, `{"sample":"hello"}`)
		synctest.Wait()
		want(t, "hello", received(one), `{"sample":"state","revision":1,"state":{"revision":1,"title":"Board","lists":[{"id":"l1","title":"To do","cards":[]}`)
		want(t, "the other View", received(two))

		invoke(t, h, "add_card", `{"list":"To do","title":"Pack"}`)
		want(t, "one", received(one), `"cards":[{"id":"c4","title":"Pack","done":false}]`)
		want(t, "two", received(two), `"revision":2`)

		one.Say(o.Channel, `{"sample":"do","ref":7,"action":"remove_card","input":{"card":"c4"}}`)
		two.Say(o.Channel, `{"sample":"do","ref":"x","action":"check_card","input":{"card":"c4"}}`)
		synctest.Wait()
		want(t, "the first request", received(one), `"revision":3`, `{"sample":"done","ref":7,"value":{"removed":"c4","title":"Pack"}}`)
		want(t, "the second request", received(two), `"revision":3`, `{"sample":"refused","ref":"x","code":"board_card_not_found"`, `"revision":3`)

		one.Say(o.Channel, `{"sample":"do","ref":8,"action":"explode"}`)
		synctest.Wait()
		want(t, "an unknown action", received(one), `{"sample":"refused","ref":8,"code":"canvas_action_no_handler"`, `"revision":3`)
		one.Say(o.Channel, `{"sample":"do","action":"get_board"}`) // changes nothing, so it is no event
		synctest.Wait()
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		if err != nil || len(page.Events) != 1 || string(page.Events[0].Event) != `{"type":"board.changed","action":"remove_card","input":{"card":"c4"},"value":{"removed":"c4","title":"Pack"},"revision":3}` {
			t.Errorf("events: %+v, %v", page, err)
		}
	})
}

func TestTitleStatusAndURL(t *testing.T) {
	h, _ := newHost(t)
	o := h.Open(CanvasID, "b", ahp.Value(`{"title":"Trip","lists":["A","B"]}`))
	if o.Title != "Trip" || o.Status != "No cards yet" || o.URL != "ahp-canvas-content:/b/" {
		t.Errorf("opened as %+v", o)
	}
	invoke(t, h, "add_card", `{"list":"a","title":"x","done":true}`)
	invoke(t, h, "add_card", `{"list":"a","title":"y"}`)
	if st := h.State(o.Channel); *st.Status != "1 of 2 done" {
		t.Errorf("status %q", *st.Status)
	}
}

// TestReopen: another input adds to the board, the same one changes nothing, and a
// provider that was unreachable gets the saved board back.
func TestReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, reg := newHost(t)
		o := h.Open(CanvasID, "b", ahp.Value(`{"title":"One","lists":["A"]}`))
		invoke(t, h, "add_card", `{"list":"A","title":"x"}`)
		h.Open(CanvasID, "b", ahp.Value(`{"title":"Two","lists":["a","B"]}`))
		if got := invoke(t, h, "get_board", `{}`); !strings.Contains(got, `"title":"Two","lists":[{"id":"l1","title":"A","cards":[{"id":"c2"`) || !strings.Contains(got, `"title":"B"`) {
			t.Errorf("the board is %s", got)
		}
		invoke(t, h, "remove_list", `{"list":"B"}`)
		before := invoke(t, h, "get_board", `{}`)
		reg.SetReachable(false)
		reg.SetReachable(true)
		synctest.Wait()
		if after := invoke(t, h, "get_board", `{}`); after != before {
			t.Errorf("after the provider was unreachable: %s\nbefore: %s", after, before)
		}
		if st := h.State(o.Channel); *st.Title != "Two" {
			t.Errorf("title %q", *st.Title)
		}
		invoke(t, h, "add_card", `{"list":"A","title":"y"}`)
		if got := invoke(t, h, "get_board", `{}`); !strings.Contains(got, `"id":"c4"`) {
			t.Errorf("an id was used twice: %s", got)
		}
	})
}

// TestSchema: the host checks an input before the board receives it.
func TestSchema(t *testing.T) {
	h, _ := newHost(t)
	h.Open(CanvasID, "b", nil)
	_, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "b", ActionName: "add_card", Input: ahp.Value(`{"list":"todo","title":"x","colour":"red"}`)})
	if !errors.Is(err, &canvas.Error{Code: canvas.CodeInputInvalid}) {
		t.Errorf("an unknown member: %v", err)
	}
}

// TestPage: all of the page's files can be read, and none names another address or
// makes markup of data.
func TestPage(t *testing.T) {
	h, _ := newHost(t)
	o := h.Open(CanvasID, "b", nil)
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	for path, mime := range map[string]string{"/": "text/html", "/base.css": "text/css", "/board.css": "text/css", "/board.js": "text/javascript", "/draw.js": "text/javascript", "/edit.js": "text/javascript", "/keys.js": "text/javascript", "/drag.js": "text/javascript", "/ui.js": "text/javascript", "/link.js": "text/javascript", "/parts.js": "text/javascript", "/difference.js": "text/javascript", "/notes.js": "text/javascript"} {
		raw, err := h.Canvases.Content.CanvasReadResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: o.Channel, URI: canvas.ContentURL("b", path)})
		if err != nil || !strings.Contains(string(raw), `"mimeType":"`+mime+`"`) {
			t.Errorf("%s: %.100s %v", path, raw, err)
		}
		text := strings.ReplaceAll(string(raw), "http://www.w3.org/2000/svg", "") // the name of a namespace, not an address
		for _, bad := range []string{"http://", "https://", "innerHTML", "insertAdjacentHTML", "document.write", "eval("} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
	}
}
