package board

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample/sampletest"
)

// run runs an action as a host does; an absent input arrives as {}.
func (b board) run(name string, input ahp.Value) (board, any, error) {
	action := actions[name]
	if action == nil {
		return b, nil, fmt.Errorf("there is no action %q", name)
	}
	if len(input) == 0 {
		input = ahp.Value("{}")
	}
	after, result, err := action(b, sample.Call{InstanceID: "b", Action: name, Input: input})
	return after, result.Value, err
}

// do runs an action given as "name input".
func do(t *testing.T, b board, call string) board {
	t.Helper()
	name, input, _ := strings.Cut(call, " ")
	after, _, err := b.run(name, ahp.Value(input))
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	return after
}

// sketch formats a board as "To do: a* b | Done:"; a star marks a done card.
func sketch(s State) string {
	var lists []string
	for _, l := range s.Lists {
		var line strings.Builder
		line.WriteString(l.Title + ":")
		for _, c := range l.Cards {
			line.WriteString(" " + c.Title)
			if c.Done {
				line.WriteString("*")
			}
		}
		lists = append(lists, line.String())
	}
	return strings.Join(lists, " | ")
}

func TestActions(t *testing.T) {
	b := board{State: State{Title: "B", Lists: []List{}}}
	for _, step := range []struct{ call, want string }{
		{`add_list {"title":" To  do ","cards":[{"title":"a"},{"title":"b","done":true}]}`, "To do: a b*"},
		{`add_list {"title":"Done"}`, "To do: a b* | Done:"},
		{`add_card {"list":"todo","title":"c","position":0}`, "To do: c a b* | Done:"},
		{`add_card {"list":"done","title":"d","position":99}`, "To do: c a b* | Done: d"},
		{`move_card {"card":"c2","list":"Done"}`, "To do: c b* | Done: d a"},
		{`move_card {"card":"c2","position":0}`, "To do: c b* | Done: a d"},
		{`move_card {"card":"c5","position":1}`, "To do: b* c | Done: a d"},
		{`check_card {"card":"c2"}`, "To do: b* c | Done: a* d"},
		{`uncheck_card {"card":"c3"}`, "To do: b c | Done: a* d"},
		{`edit_card {"card":"c6","title":"D","notes":"more\ntext"}`, "To do: b c | Done: a* D"},
		{`move_list {"list":"Done","position":0}`, "Done: a* D | To do: b c"},
		{`move_card {"card":"c5","position":0.0}`, "Done: a* D | To do: c b"},
		{`move_card {"card":"c5","position":1e30}`, "Done: a* D | To do: b c"},
		{`rename_list {"list":"l4","title":"Shipped"}`, "Shipped: a* D | To do: b c"},
		{`remove_card {"card":"c6"}`, "Shipped: a* | To do: b c"},
		{`remove_list {"list":"shipped"}`, "To do: b c"},
	} {
		before := b.Revision
		b = do(t, b, step.call)
		if got := sketch(b.State); got != step.want {
			t.Fatalf("%s: %s, want %s", step.call, got, step.want)
		}
		if b.Revision != before+1 {
			t.Errorf("%s: revision %d after %d", step.call, b.Revision, before)
		}
	}
	for _, nothing := range []string{`get_board`, `move_card {"card":"c3","position":0}`, `uncheck_card {"card":"c3"}`, `rename_list {"list":"l1","title":"To do"}`} {
		if after := do(t, b, nothing); after.Revision != b.Revision {
			t.Errorf("%s counts as a change", nothing)
		}
	}
}

func TestActionsRefuse(t *testing.T) {
	b := board{State: State{Title: "B", Lists: []List{}}}
	for _, call := range []string{`add_list {"title":"A","cards":[{"title":"x"}]}`, `add_list {"title":"Twin"}`, `add_list {"title":"twin"}`} {
		b = do(t, b, call)
	}
	for _, c := range []struct{ call, code string }{
		{`add_card {"list":"none","title":"x"}`, CodeNoList},
		{`add_card {"list":"TWIN","title":"x"}`, CodeNoList}, // two lists match
		{`add_card {"list":"A","title":" \n "}`, CodeInvalid},
		{`add_card {"list":"A","title":"` + strings.Repeat("ä", 201) + `"}`, CodeInvalid},
		{`add_card {"list":"A","title":"a\u0000b"}`, CodeInvalid},
		{`add_card {"list":"A","title":"x","notes":"` + strings.Repeat("x", 2001) + `"}`, CodeInvalid},
		{`add_card {"list":"A"}`, CodeInvalid},
		{`edit_card {"card":"c2","title":""}`, CodeInvalid},
		{`check_card {"card":"c99"}`, CodeNoCard},
		{`move_card {"card":"c2","list":"nowhere"}`, CodeNoList},
		{`move_list {"list":"A"}`, CodeInvalid},
		{`add_list {"title":"x","cards":[{"title":""}]}`, CodeInvalid},
	} {
		name, input, _ := strings.Cut(c.call, " ")
		before := ahp.MustMarshal(b.State)
		after, _, err := b.run(name, ahp.Value(input))
		if e, ok := err.(*canvas.Error); !ok || e.Code != c.code {
			t.Errorf("%.60s: %v, want %s", c.call, err, c.code)
		}
		if !ahp.Equal(before, ahp.MustMarshal(after.State)) || !ahp.Equal(before, ahp.MustMarshal(b.State)) {
			t.Errorf("%.60s failed and changed the board", c.call)
		}
	}
}

// TestFullBoard: a board that is filled up to its limits still fits into a message.
func TestFullBoard(t *testing.T) {
	for _, card := range []string{`{"list":"A","title":"x"}`, `{"list":"A","title":"x","notes":"` + strings.Repeat(`ä\"`, 900) + `"}`} {
		b := do(t, board{State: State{Title: strings.Repeat("t", 200), Lists: []List{}}}, `add_list {"title":"A"}`)
		for n := 0; ; n++ {
			after, value, err := b.run("add_card", ahp.Value(card))
			if err != nil {
				if e := err.(*canvas.Error); e.Code != CodeFull || n == 0 {
					t.Errorf("after %d cards: %v", n, err)
				}
				break
			}
			if n > MaxCards {
				t.Fatal("the board is never full")
			}
			b, _ = after, value
		}
		if n := len(ahp.MustMarshal(b.State)); n > 60<<10 { // what sample.Definition.Show allows
			t.Errorf("the message to Views has %d bytes", n)
		}
	}
}

// TestModel compares random actions with a simple model: lists of ids.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := board{State: State{Title: "B", Lists: []List{}}}
		type column struct {
			id    string
			cards []string
		}
		var model []column
		ticked := map[string]bool{}
		pickList := func() int { return rapid.IntRange(0, len(model)-1).Draw(t, "list") }
		pickCard := func() (int, int) {
			i := pickList()
			if len(model[i].cards) == 0 {
				t.Skip()
			}
			return i, rapid.IntRange(0, len(model[i].cards)-1).Draw(t, "card")
		}
		run := func(name string, input any) any {
			after, value, err := b.run(name, ahp.MustMarshal(input))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if after.Revision < b.Revision {
				t.Fatalf("revision went back")
			}
			b = after
			return value
		}
		t.Repeat(map[string]func(*rapid.T){
			"add list": func(t *rapid.T) {
				if len(model) == 6 {
					t.Skip()
				}
				at := rapid.IntRange(0, len(model)).Draw(t, "at")
				v := run("add_list", addList{Title: "L", Position: new(position(at))}).(listValue)
				model = slices.Insert(model, at, column{id: v.List.ID})
			},
			"add card": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := pickList()
				v := run("add_card", addCard{List: model[i].id, Title: "C"}).(cardPlace)
				model[i].cards = append(model[i].cards, v.Card.ID)
			},
			"move card": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i, at := pickCard()
				to := pickList()
				id := model[i].cards[at]
				model[i].cards = slices.Delete(slices.Clone(model[i].cards), at, at+1)
				place := rapid.IntRange(0, len(model[to].cards)).Draw(t, "place")
				model[to].cards = slices.Insert(slices.Clone(model[to].cards), place, id)
				v := run("move_card", moveCard{Card: id, List: &model[to].id, Position: new(position(place))}).(cardPlace)
				if v.Position != place || v.List.ID != model[to].id {
					t.Fatalf("moved to %+v", v)
				}
			},
			"tick": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i, at := pickCard()
				id := model[i].cards[at]
				ticked[id] = rapid.Bool().Draw(t, "done")
				run(map[bool]string{true: "check_card", false: "uncheck_card"}[ticked[id]], cardRef{Card: id})
			},
			"remove card": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i, at := pickCard()
				run("remove_card", cardRef{Card: model[i].cards[at]})
				model[i].cards = slices.Delete(slices.Clone(model[i].cards), at, at+1)
			},
			"move list": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i, to := pickList(), pickList()
				c := model[i]
				model = slices.Insert(slices.Delete(slices.Clone(model), i, i+1), to, c)
				run("move_list", moveList{List: c.id, Position: new(position(to))})
			},
			"remove list": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := pickList()
				run("remove_list", listRef{List: model[i].id})
				model = slices.Delete(slices.Clone(model), i, i+1)
			},
			"": func(t *rapid.T) {
				var want, have []string
				for _, c := range model {
					var line strings.Builder
					line.WriteString(c.id + ":")
					for _, id := range c.cards {
						line.WriteString(fmt.Sprint(" ", id, ticked[id]))
					}
					want = append(want, line.String())
				}
				for _, l := range b.Lists {
					var line strings.Builder
					line.WriteString(l.ID + ":")
					for _, c := range l.Cards {
						line.WriteString(fmt.Sprint(" ", c.ID, c.Done))
					}
					have = append(have, line.String())
				}
				if diff := cmp.Diff(want, have); diff != "" {
					t.Fatalf("(-model +board)\n%s", diff)
				}
			},
		})
	})
}

// TestDeclaration: the declared actions are the implemented ones.
func TestDeclaration(t *testing.T) { sampletest.Declared(t, New(), actions) }

// FuzzRun: no input of an agent or a View makes a board exceed its limits.
func FuzzRun(f *testing.F) {
	for name := range actions {
		f.Add(name, []byte(`{"list":"a","card":"c2","title":"x","position":-1,"notes":"\u0001"}`))
	}
	start, _, err := board{State: State{Lists: []List{}}}.run("add_list", ahp.Value(`{"title":"A","cards":[{"title":"x"}]}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string, input []byte) {
		after, _, err := start.run(name, input)
		if err == nil && after.check() != nil {
			t.Fatalf("%s %s: %v", name, input, after.check())
		}
	})
}
