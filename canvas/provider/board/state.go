package board

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// The limits of a board; see the package comment.
const (
	MaxLists = 20
	MaxCards = 500
	MaxTitle = 200      // code points
	MaxNotes = 2000     // code points
	MaxBytes = 56 << 10 // of the board as JSON
)

// The codes of a board's own errors.
const (
	CodeNoList  = "board_list_not_found"
	CodeNoCard  = "board_card_not_found"
	CodeFull    = "board_full"
	CodeInvalid = "board_invalid"
)

// State is a board. It is a value: operations work on a clone.
type State struct {
	Revision int64  `json:"revision"` // counts changes
	Title    string `json:"title"`
	Lists    []List `json:"lists"`
}

// List is a column of cards.
type List struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Cards []Card `json:"cards"`
}

// Card is one thing to do.
type Card struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Notes string `json:"notes,omitzero"` // plain text
	Done  bool   `json:"done"`
}

func (s State) clone() State {
	s.Lists = slices.Clone(s.Lists)
	for i := range s.Lists {
		s.Lists[i].Cards = slices.Clone(s.Lists[i].Cards)
	}
	return s
}

// list finds a list by its id, or by its title where that is one list's alone: as
// it is written, else by letters and digits, so that "todo" is "To do".
func (s *State) list(ref string) (int, error) {
	if i := slices.IndexFunc(s.Lists, func(l List) bool { return l.ID == ref }); i >= 0 {
		return i, nil
	}
	called := s.called(ref)
	if len(called) == 1 {
		return called[0], nil
	}
	var titles []string
	for _, l := range s.Lists {
		titles = append(titles, fmt.Sprintf("%s (%q)", l.ID, l.Title))
	}
	switch {
	case len(called) > 1:
		return 0, canvas.Errorf(CodeNoList, "two lists are called %q: use an id: %s", ref, strings.Join(titles, ", "))
	case titles == nil:
		titles = []string{"none, call add_list first"}
	}
	return 0, canvas.Errorf(CodeNoList, "no list is called %q; there are: %s", ref, strings.Join(titles, ", "))
}

// called are the lists with a title.
func (s *State) called(title string) []int {
	where := func(is func(string) bool) (all []int) {
		for i, l := range s.Lists {
			if is(l.Title) {
				all = append(all, i)
			}
		}
		return all
	}
	if exact := where(func(t string) bool { return t == sample.OneLine(title) }); exact != nil {
		return exact
	}
	key := letters(title)
	return where(func(t string) bool { return key != "" && letters(t) == key })
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// card finds a card by its id.
func (s *State) card(id string) (list, at int, err error) {
	for i, l := range s.Lists {
		if at := slices.IndexFunc(l.Cards, func(c Card) bool { return c.ID == id }); at >= 0 {
			return i, at, nil
		}
	}
	return 0, 0, canvas.Errorf(CodeNoCard, "there is no card %q any more: call get_board to see the ids", id)
}

// counts returns how many cards there are, and how many are done.
func (s *State) counts() (all, done int) {
	for _, l := range s.Lists {
		all += len(l.Cards)
		for _, c := range l.Cards {
			if c.Done {
				done++
			}
		}
	}
	return all, done
}

// check holds a changed board against the limits.
func (s *State) check() error {
	if len(s.Lists) > MaxLists {
		return canvas.Errorf(CodeFull, "a board has at most %d lists", MaxLists)
	}
	if all, _ := s.counts(); all > MaxCards {
		return canvas.Errorf(CodeFull, "a board has at most %d cards: remove some first", MaxCards)
	}
	if len(ahp.MustMarshal(s)) > MaxBytes {
		return canvas.Errorf(CodeFull, "a board holds at most %d KiB: remove or shorten something first", MaxBytes>>10)
	}
	return nil
}

// texts cleans what people and agents write.
var texts = sample.Texts{Code: CodeInvalid}

// notes cleans a card's text of several lines.
func notes(s string) (string, error) {
	return texts.Lines("the text of the notes", strings.TrimSpace(s), MaxNotes)
}
