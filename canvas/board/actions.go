package board

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
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
		Cards   int    `json:"cards"`
	}
	removedCard struct {
		Removed string `json:"removed"`
	}
)

// The inputs of actions; declaration.json has them for agents.
type (
	newCard struct {
		Title string `json:"title"`
		Notes string `json:"notes,omitzero"`
		Done  bool   `json:"done,omitzero"`
	}
	addList struct {
		Title    string    `json:"title"`
		Position *int      `json:"position,omitzero"`
		Cards    []newCard `json:"cards,omitzero"`
	}
	renameList struct {
		List  string `json:"list"`
		Title string `json:"title"`
	}
	moveList struct {
		List     string `json:"list"`
		Position *int   `json:"position"`
	}
	ofList struct {
		List string `json:"list"`
	}
	addCard struct {
		List     string `json:"list"`
		Title    string `json:"title"`
		Notes    string `json:"notes,omitzero"`
		Done     bool   `json:"done,omitzero"`
		Position *int   `json:"position,omitzero"`
	}
	editCard struct {
		Card  string  `json:"card"`
		Title *string `json:"title,omitzero"`
		Notes *string `json:"notes,omitzero"`
	}
	moveCard struct {
		Card     string  `json:"card"`
		List     *string `json:"list,omitzero"`
		Position *int    `json:"position,omitzero"`
	}
	ofCard struct {
		Card string `json:"card"`
	}
)

// board is a state in the making, with the ids that it may give out.
type board struct {
	State
	next int // number of the next id
}

type action func(b *board, input ahp.Value) (any, error)

var actions = map[string]action{
	"get_board":    with(func(b *board, _ struct{}) (any, error) { return b.State, nil }),
	"add_list":     with((*board).addList),
	"rename_list":  with((*board).renameList),
	"move_list":    with((*board).moveList),
	"remove_list":  with((*board).removeList),
	"add_card":     with((*board).addCard),
	"edit_card":    with((*board).editCard),
	"move_card":    with((*board).moveCard),
	"check_card":   with(func(b *board, in ofCard) (any, error) { return b.tick(in.Card, true) }),
	"uncheck_card": with(func(b *board, in ofCard) (any, error) { return b.tick(in.Card, false) }),
	"remove_card":  with((*board).removeCard),
}

func with[P any](fn func(*board, P) (any, error)) action {
	return func(b *board, input ahp.Value) (any, error) {
		if len(input) == 0 {
			input = ahp.Value("{}")
		}
		var in P
		if err := ahp.Unmarshal(input, &in); err != nil {
			return nil, canvas.Errorf(CodeInvalid, "the input does not fit: %v", err)
		}
		return fn(b, in)
	}
}

// run applies an action and returns the new board and the action's value. The
// old one is never changed: an action that fails leaves nothing behind.
func (b board) run(name string, input ahp.Value) (board, any, error) {
	do := actions[name]
	if do == nil {
		return b, nil, canvas.Errorf(canvas.CodeNoHandler, "a board has no action %q", name)
	}
	after := board{b.clone(), b.next}
	value, err := do(&after, input)
	if err != nil {
		return b, nil, err
	}
	if reflect.DeepEqual(b.State, after.State) {
		return b, value, nil
	}
	if err := after.check(); err != nil {
		return b, nil, err
	}
	after.Revision++
	return after, value, nil
}

func (b *board) id(prefix string) string {
	b.next++
	return prefix + strconv.Itoa(b.next)
}

func (b *board) newCard(in newCard) (c Card, err error) {
	if c.Title, err = title("a card's title", in.Title); err != nil {
		return c, err
	}
	if c.Notes, err = notes(in.Notes); err != nil {
		return c, err
	}
	c.ID, c.Done = b.id("c"), in.Done
	return c, nil
}

func (b *board) addList(in addList) (any, error) {
	name, err := title("a list's title", in.Title)
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
	b.Lists = slices.Insert(b.Lists, place(in.Position, len(b.Lists)), l)
	return listValue{l}, nil
}

func (b *board) renameList(in renameList) (any, error) {
	i, err := b.list(in.List)
	if err != nil {
		return nil, err
	}
	if b.Lists[i].Title, err = title("a list's title", in.Title); err != nil {
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
	at := place(in.Position, len(b.Lists))
	b.Lists = slices.Insert(b.Lists, at, l)
	return listPlace{b.name(at), at}, nil
}

func (b *board) removeList(in ofList) (any, error) {
	i, err := b.list(in.List)
	if err != nil {
		return nil, err
	}
	value := removedList{b.Lists[i].ID, len(b.Lists[i].Cards)}
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
	i, at, err := b.card(in.Card)
	if err != nil {
		return nil, err
	}
	c := &b.Lists[i].Cards[at]
	if in.Title != nil {
		if c.Title, err = title("a card's title", *in.Title); err != nil {
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
	c := b.Lists[from].Cards[at]
	b.Lists[from].Cards = slices.Delete(b.Lists[from].Cards, at, at+1)
	return b.insert(c, to, in.Position), nil
}

func (b *board) tick(id string, done bool) (any, error) {
	i, at, err := b.card(id)
	if err != nil {
		return nil, err
	}
	b.Lists[i].Cards[at].Done = done
	return cardPlace{b.Lists[i].Cards[at], b.name(i), at}, nil
}

func (b *board) removeCard(in ofCard) (any, error) {
	i, at, err := b.card(in.Card)
	if err != nil {
		return nil, err
	}
	b.Lists[i].Cards = slices.Delete(b.Lists[i].Cards, at, at+1)
	return removedCard{in.Card}, nil
}

func (b *board) insert(c Card, list int, position *int) cardPlace {
	at := place(position, len(b.Lists[list].Cards))
	b.Lists[list].Cards = slices.Insert(b.Lists[list].Cards, at, c)
	return cardPlace{c, b.name(list), at}
}

func (b *board) name(list int) listName { return listName{b.Lists[list].ID, b.Lists[list].Title} }

// place is a position among n things: the end where it is absent or beyond.
func place(position *int, n int) int {
	if position == nil || *position > n {
		return n
	}
	return max(*position, 0)
}
