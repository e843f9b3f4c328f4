package board

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// The values that actions return.
type (
	listValue struct {
		List List `json:"list"`
	}
	listName struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	listPlace struct {
		List     listName `json:"list"`
		Position int      `json:"position"`
	}
	cardPlace struct {
		Card     Card     `json:"card"`
		List     listName `json:"list"`
		Position int      `json:"position"`
	}
	removedList struct {
		Removed string `json:"removed"`
		Title   string `json:"title"`
		Cards   int    `json:"cards"`
	}
	removedCard struct {
		Removed string `json:"removed"`
		Title   string `json:"title"`
	}
)

// The inputs of actions; declaration.json describes them.
type (
	newCard struct {
		Title string `json:"title"`
		Notes string `json:"notes,omitzero"`
		Done  bool   `json:"done,omitzero"`
	}
	addList struct {
		Title    string    `json:"title"`
		Position *position `json:"position,omitzero"`
		Cards    []newCard `json:"cards,omitzero"`
	}
	renameList struct {
		List  string `json:"list"`
		Title string `json:"title"`
		Seen  *seen  `json:"seen,omitzero"`
	}
	moveList struct {
		List     string    `json:"list"`
		Position *position `json:"position"`
	}
	listRef struct {
		List string `json:"list"`
		Seen *seen  `json:"seen,omitzero"`
	}
	addCard struct {
		List     string    `json:"list"`
		Title    string    `json:"title"`
		Notes    string    `json:"notes,omitzero"`
		Done     bool      `json:"done,omitzero"`
		Position *position `json:"position,omitzero"`
	}
	editCard struct {
		Card  string  `json:"card"`
		Title *string `json:"title,omitzero"`
		Notes *string `json:"notes,omitzero"`
		Seen  *seen   `json:"seen,omitzero"`
	}
	moveCard struct {
		Card     string    `json:"card"`
		List     *string   `json:"list,omitzero"`
		Position *position `json:"position,omitzero"`
		Seen     *seen     `json:"seen,omitzero"`
	}
	cardRef struct {
		Card string `json:"card"`
		Seen *seen  `json:"seen,omitzero"`
	}
)

// board is a State and its source of ids. It is immutable: changes work on a copy.
type board struct {
	State
	Next int `json:"next"` // the number of the newest id
}

func (b board) copy() board { return board{b.clone(), b.Next} }

// actions are the actions of agents and people.
var actions = map[string]sample.Action[board]{
	"get_board":    action(func(b *board, _ struct{}) (any, error) { return b.State, nil }),
	"add_list":     action((*board).addList),
	"rename_list":  action((*board).renameList),
	"move_list":    action((*board).moveList),
	"remove_list":  action((*board).removeList),
	"add_card":     action((*board).addCard),
	"edit_card":    action((*board).editCard),
	"move_card":    action((*board).moveCard),
	"check_card":   action(func(b *board, in cardRef) (any, error) { return b.tick(in, true) }),
	"uncheck_card": action(func(b *board, in cardRef) (any, error) { return b.tick(in, false) }),
	"remove_card":  action((*board).removeCard),
}

// action makes an Action of a function that changes a board. The function changes a
// copy, so a failed action changes nothing.
func action[P any](fn func(*board, P) (any, error)) sample.Action[board] {
	return sample.With(CodeInvalid, func(b board, call sample.Call, in P) (board, sample.Result, error) {
		after := b.copy()
		value, err := fn(&after, in)
		if err != nil {
			return b, sample.Result{}, err
		}
		if reflect.DeepEqual(b.State, after.State) {
			return b, sample.Result{Value: value}, nil
		}
		if err := after.check(); err != nil {
			return b, sample.Result{}, err
		}
		after.Revision++
		return after, sample.Result{Value: value, Note: note(call.Action, value)}, nil
	})
}

// note says in words for people what an action did.
func note(action string, value any) string {
	switch v := value.(type) {
	case listValue:
		return "added the list “" + v.List.Title + "”"
	case listPlace:
		if action == "move_list" {
			return "moved the list “" + v.List.Title + "”"
		}
		return "renamed a list to “" + v.List.Title + "”"
	case removedList:
		return fmt.Sprintf("removed the list “%s” with %d cards", v.Title, v.Cards)
	case removedCard:
		return "removed “" + v.Title + "”"
	case cardPlace:
		switch action {
		case "add_card":
			return "added “" + v.Card.Title + "” to “" + v.List.Title + "”"
		case "move_card":
			return "moved “" + v.Card.Title + "” to “" + v.List.Title + "”"
		case "check_card":
			return "ticked “" + v.Card.Title + "”"
		case "uncheck_card":
			return "unticked “" + v.Card.Title + "”"
		}
		return "edited “" + v.Card.Title + "”"
	}
	return ""
}

// agentActions returns the actions for agents: their values have the board's revision, as
// events do, so an agent knows what happened before its action and what after.
func agentActions() map[string]sample.Action[board] {
	all := map[string]sample.Action[board]{}
	for name, do := range actions {
		all[name] = func(b board, call sample.Call) (board, sample.Result, error) {
			after, result, err := do(b, call)
			if _, whole := result.Value.(State); err == nil && !whole { // a State has it
				value := ahp.MustMarshal(result.Value)
				result.Value = append(value[:len(value)-1], fmt.Sprintf(`,"revision":%d}`, after.Revision)...)
			}
			return after, result, err
		}
	}
	return all
}

// changedEvent tells the agent what a person did. An id in the input says little once the
// board has changed again, so the event has the action's value too, which names the card
// and its list, and the revision of the board that it was.
type changedEvent struct {
	Type     string    `json:"type"`
	Action   string    `json:"action"`
	Input    ahp.Value `json:"input"`
	Value    any       `json:"value"`
	Revision int64     `json:"revision"`
}

// personActions returns the same actions for people, with an event for the agent.
func personActions() map[string]sample.Action[board] {
	all := map[string]sample.Action[board]{}
	for name, do := range actions {
		all[name] = func(b board, call sample.Call) (board, sample.Result, error) {
			after, result, err := do(b, call)
			result.Event = changedEvent{"board.changed", call.Action, withoutSeen(call.Input), result.Value, after.Revision}
			return after, result, err
		}
	}
	return all
}

// withoutSeen returns an input without what the page had drawn, which says nothing to an
// agent once it was compared.
func withoutSeen(input ahp.Value) ahp.Value {
	var members map[string]ahp.Value
	if err := ahp.Unmarshal(input, &members); err != nil || members["seen"] == nil {
		return input
	}
	delete(members, "seen")
	return ahp.MustMarshal(members)
}

// id returns a new id.
func (b *board) id(prefix string) string {
	b.Next++
	return prefix + strconv.Itoa(b.Next)
}

func (b *board) newCard(in newCard) (c Card, err error) {
	if c.Title, err = texts.Name("a card's title", in.Title, MaxTitle); err != nil {
		return c, err
	}
	if c.Notes, err = notes(in.Notes); err != nil {
		return c, err
	}
	c.ID, c.Done = b.id("c"), in.Done
	return c, nil
}

func (b *board) addList(in addList) (any, error) {
	name, err := texts.Name("a list's title", in.Title, MaxTitle)
	if err != nil {
		return nil, err
	}
	l := List{ID: b.id("l"), Title: name, Cards: []Card{}}
	for _, nc := range in.Cards {
		c, err := b.newCard(nc)
		if err != nil {
			return nil, err
		}
		l.Cards = append(l.Cards, c)
	}
	b.Lists = slices.Insert(b.Lists, index(in.Position, len(b.Lists)), l)
	return listValue{l}, nil
}

func (b *board) renameList(in renameList) (any, error) {
	i, err := b.listSeen(in.List, in.Seen)
	if err != nil {
		return nil, err
	}
	if b.Lists[i].Title, err = texts.Name("a list's title", in.Title, MaxTitle); err != nil {
		return nil, err
	}
	return listPlace{b.name(i), i}, nil
}

func (b *board) moveList(in moveList) (any, error) {
	i, err := b.list(in.List)
	if err != nil {
		return nil, err
	}
	l := b.Lists[i]
	b.Lists = slices.Delete(b.Lists, i, i+1)
	at := index(in.Position, len(b.Lists))
	b.Lists = slices.Insert(b.Lists, at, l)
	return listPlace{b.name(at), at}, nil
}

func (b *board) removeList(in listRef) (any, error) {
	i, err := b.listSeen(in.List, in.Seen)
	if err != nil {
		return nil, err
	}
	value := removedList{b.Lists[i].ID, b.Lists[i].Title, len(b.Lists[i].Cards)}
	b.Lists = slices.Delete(b.Lists, i, i+1)
	return value, nil
}

func (b *board) addCard(in addCard) (any, error) {
	i, err := b.list(in.List)
	if err != nil {
		return nil, err
	}
	c, err := b.newCard(newCard{in.Title, in.Notes, in.Done})
	if err != nil {
		return nil, err
	}
	return b.insert(c, i, in.Position), nil
}

func (b *board) editCard(in editCard) (any, error) {
	i, at, err := b.cardSeen(in.Card, in.Seen)
	if err != nil {
		return nil, err
	}
	c := &b.Lists[i].Cards[at]
	if in.Title != nil {
		if c.Title, err = texts.Name("a card's title", *in.Title, MaxTitle); err != nil {
			return nil, err
		}
	}
	if in.Notes != nil {
		if c.Notes, err = notes(*in.Notes); err != nil {
			return nil, err
		}
	}
	return cardPlace{*c, b.name(i), at}, nil
}

func (b *board) moveCard(in moveCard) (any, error) {
	from, at, err := b.card(in.Card)
	if err != nil {
		return nil, err
	}
	to := from
	if in.List != nil {
		if to, err = b.list(*in.List); err != nil {
			return nil, err
		}
	}
	if to != from || in.List == nil { // a card that is in that list already was moved there twice
		err = b.checkSeen(from, at, in.Seen)
	} else {
		err = b.checkSeen(from, at, in.Seen.texts())
	}
	if err != nil {
		return nil, err
	}
	c := b.Lists[from].Cards[at]
	b.Lists[from].Cards = slices.Delete(b.Lists[from].Cards, at, at+1)
	return b.insert(c, to, in.Position), nil
}

func (b *board) tick(in cardRef, done bool) (any, error) {
	i, at, err := b.cardSeen(in.Card, in.Seen)
	if err != nil {
		return nil, err
	}
	b.Lists[i].Cards[at].Done = done
	return cardPlace{b.Lists[i].Cards[at], b.name(i), at}, nil
}

func (b *board) removeCard(in cardRef) (any, error) {
	i, at, err := b.cardSeen(in.Card, in.Seen)
	if err != nil {
		return nil, err
	}
	removed := b.Lists[i].Cards[at]
	b.Lists[i].Cards = slices.Delete(b.Lists[i].Cards, at, at+1)
	return removedCard{removed.ID, removed.Title}, nil
}

// insert puts a card into a list and returns its place.
func (b *board) insert(c Card, list int, to *position) cardPlace {
	at := index(to, len(b.Lists[list].Cards))
	b.Lists[list].Cards = slices.Insert(b.Lists[list].Cards, at, c)
	return cardPlace{c, b.name(list), at}
}

func (b *board) name(list int) listName { return listName{b.Lists[list].ID, b.Lists[list].Title} }
