package board

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestSeen: a change applies to what its sender saw, or fails and changes nothing.
func TestSeen(t *testing.T) {
	start := board{State: State{Title: "B", Lists: []List{}}}
	for _, call := range []string{
		`add_list {"title":"To do","cards":[{"title":"Buy milk","notes":"two"},{"title":"Call"}]}`, // l1 c2 c3
		`add_list {"title":"Doing"}`, `add_list {"title":"Done"}`, // l4 l5
	} {
		start = do(t, start, call)
	}
	const asDrawn = `"seen":{"title":"Buy milk","notes":"two","list":"l1"}`
	for _, c := range []struct{ meanwhile, call, refused string }{
		// The agent replaced the text on which the person acts.
		{`edit_card {"card":"c2","title":"Sell the car"}`, `check_card {"card":"c2","seen":{"title":"Buy milk"}}`, "is now called “Sell the car”"},
		{`edit_card {"card":"c2","title":"Sell the car"}`, `uncheck_card {"card":"c2","seen":{"title":"Buy milk"}}`, "is now called “Sell the car”"},
		{`edit_card {"card":"c2","title":"Sell the car"}`, `move_card {"card":"c2","list":"l5",` + asDrawn + `}`, "is now called “Sell the car”"},
		{`edit_card {"card":"c2","notes":"none"}`, `remove_card {"card":"c2",` + asDrawn + `}`, "notes of “Buy milk”"},
		{`edit_card {"card":"c2","title":"Buy bread"}`, `edit_card {"card":"c2","title":"Buy 2 milk","seen":{"title":"Buy milk"}}`, "is now called “Buy bread”"},
		// One edits the title, the other one the notes: both stay.
		{`edit_card {"card":"c2","notes":"none"}`, `edit_card {"card":"c2","title":"Buy 2 milk","seen":{"title":"Buy milk"}}`, ""},
		{`check_card {"card":"c2"}`, `edit_card {"card":"c2","title":"Buy 2 milk",` + asDrawn + `}`, ""},
		// The agent moved the card that the person drags from its old list.
		{`move_card {"card":"c2","list":"l5"}`, `move_card {"card":"c2","list":"l4","position":0,` + asDrawn + `}`, "moved to “Done”"},
		{`move_card {"card":"c2","list":"l5"}`, `move_card {"card":"c2","position":0,` + asDrawn + `}`, "moved to “Done”"},
		{`move_card {"card":"c2","list":"l5"}`, `remove_card {"card":"c2",` + asDrawn + `}`, "moved to “Done”"},
		{`move_card {"card":"c2","list":"l5"}`, `move_card {"card":"c2","list":"l5",` + asDrawn + `}`, ""}, // both meant the same
		{`move_card {"card":"c2","position":1}`, `move_card {"card":"c2","list":"l4",` + asDrawn + `}`, ""},
		// The list that the person removes is not the one that they saw.
		{`add_card {"list":"l1","title":"New"}`, `remove_list {"list":"l1","seen":{"title":"To do","cards":{"c2":"Buy milk","c3":"Call"}}}`, "“New” in “To do” is new"},
		{`edit_card {"card":"c3","title":"Pay"}`, `remove_list {"list":"l1","seen":{"title":"To do","cards":{"c2":"Buy milk","c3":"Call"}}}`, "“Pay” in “To do”"},
		{`add_card {"list":"l4","title":"New"}`, `remove_list {"list":"l4","seen":{"title":"Doing","cards":{}}}`, "“New” in “Doing”"},
		{`rename_list {"list":"l4","title":"Shipped"}`, `remove_list {"list":"l4","seen":{"title":"Doing"}}`, "is now called “Shipped”"},
		{`rename_list {"list":"l4","title":"Shipped"}`, `rename_list {"list":"l4","title":"Now","seen":{"title":"Doing"}}`, "is now called “Shipped”"},
		{`remove_card {"card":"c3"}`, `remove_list {"list":"l1","seen":{"title":"To do","cards":{"c2":"Buy milk","c3":"Call"}}}`, ""},
		// Pages of older releases and agents without seen act on what there is.
		{`edit_card {"card":"c2","title":"Sell the car"}`, `check_card {"card":"c2"}`, ""},
	} {
		b := do(t, start, c.meanwhile)
		name, input, _ := strings.Cut(c.call, " ")
		after, _, err := b.run(name, ahp.Value(input))
		if c.refused == "" {
			if err != nil || after.Revision != b.Revision && after.Revision != b.Revision+1 {
				t.Errorf("%s after %s: %v", c.call, c.meanwhile, err)
			}
			continue
		}
		if e, ok := err.(*canvas.Error); !ok || e.Code != CodeChanged || !strings.Contains(e.Message, c.refused) {
			t.Errorf("%s after %s: %v, want %s", c.call, c.meanwhile, err, c.refused)
		}
		if !ahp.Equal(ahp.MustMarshal(b.State), ahp.MustMarshal(after.State)) {
			t.Errorf("%s failed and changed the board", c.call)
		}
		if _, _, err := start.run(name, ahp.Value(input)); err != nil {
			t.Errorf("%s on the board that its sender saw: %v", c.call, err)
		}
	}
}

// TestStaleTick: a tick on a text that the agent has replaced reaches the agent as no
// event, and the page gets the reason and the new board.
func TestStaleTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHost(t)
		o := h.Open(CanvasID, "b", ahp.Value(`{"lists":["To do"]}`))
		if got := invoke(t, h, "add_card", `{"list":"To do","title":"Buy milk"}`); !strings.HasSuffix(got, `"revision":2}`) {
			t.Errorf("an answer to the agent has no revision: %s", got)
		}
		v := h.Connect("v")
		v.Subscribe(o.Channel)
		if got := invoke(t, h, "edit_card", `{"card":"c2","title":"Sell the car"}`); !strings.HasSuffix(got, `"revision":3}`) {
			t.Errorf("an answer to the agent has no revision: %s", got)
		}
		synctest.Wait()
		received(v)
		v.Say(o.Channel, `{"sample":"do","ref":1,"action":"check_card","input":{"card":"c2","seen":{"title":"Buy milk"}}}`)
		synctest.Wait()
		want(t, "a stale tick", received(v), `"sample":"refused","ref":1,"code":"board_changed"`, `"title":"Sell the car","done":false`)
		v.Say(o.Channel, `{"sample":"do","ref":2,"action":"check_card","input":{"card":"c2","seen":{"title":"Sell the car"}}}`)
		synctest.Wait()
		want(t, "a tick", received(v), `"done":true`, `"sample":"done","ref":2`)
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		if err != nil || len(page.Events) != 1 || !strings.HasPrefix(string(page.Events[0].Event), `{"type":"board.changed","action":"check_card","input":{"card":"c2"},"value":{"card":{"id":"c2","title":"Sell the car"`) {
			t.Errorf("events: %+v, %v", page, err)
		}
	})
}
