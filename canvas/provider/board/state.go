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
	MaxLists = 20       // lists of a board
	MaxCards = 500      // cards of a board
	MaxTitle = 200      // code points of a title
	MaxNotes = 2000     // code points of a card's notes
	MaxBytes = 56 << 10 // bytes of the board as JSON
)

// The codes of the board's errors.
const (
	CodeNoList  = "board_list_not_found" // no list, or several lists, of that id or title
	CodeNoCard  = "board_card_not_found" // no card of that id
	CodeFull    = "board_full"           // a limit is exceeded
	CodeInvalid = "board_invalid"        // an invalid input
	CodeChanged = "board_changed"        // a card or list is no longer as the caller saw it
)

// State is a board as Views and get_board receive it. It is immutable: operations work
// on a clone.
type State struct {
	// Revision counts the changes.
	Revision int64 `json:"revision"`
	// Title is the board's name.
	Title string `json:"title"`
	// Lists are the columns, from left to right.
	Lists []List `json:"lists"`
}

// List is a column of cards.
type List struct {
	// ID identifies the list; the board never uses it again.
	ID string `json:"id"`
	// Title is the list's name.
	Title string `json:"title"`
	// Cards are the cards, from top to bottom.
	Cards []Card `json:"cards"`
}

// Card is one item of a list.
type Card struct {
	// ID identifies the card; the board never uses it again.
	ID string `json:"id"`
	// Title is one line of text.
	Title string `json:"title"`
	// Notes is plain text; "" is none.
	Notes string `json:"notes,omitzero"`
	// Done reports whether the card is ticked off.
	Done bool `json:"done"`
}

func (s State) clone() State {
	s.Lists = slices.Clone(s.Lists)
	for i := range s.Lists {
		s.Lists[i].Cards = slices.Clone(s.Lists[i].Cards)
	}
	return s
}

// list finds a list by its id or a unique title. A title matches exactly, or else by
// its letters and digits, so that "todo" finds "To do".
func (s *State) list(ref string) (int, error) {
	if i := slices.IndexFunc(s.Lists, func(l List) bool { return l.ID == ref }); i >= 0 {
		return i, nil
	}
	named := s.listsNamed(ref)
	if len(named) == 1 {
		return named[0], nil
	}
	var titles []string
	for _, l := range s.Lists {
		titles = append(titles, fmt.Sprintf("%s (%q)", l.ID, l.Title))
	}
	switch {
	case len(named) > 1:
		return 0, canvas.Errorf(CodeNoList, "%d lists are called %q; use an id: %s", len(named), ref, strings.Join(titles, ", "))
	case titles == nil:
		return 0, canvas.Errorf(CodeNoList, "no list is called %q; the board has no lists, so call add_list first", ref)
	}
	return 0, canvas.Errorf(CodeNoList, "no list is called %q; the lists are %s", ref, strings.Join(titles, ", "))
}

// listsNamed returns the indexes of the lists with a title; see list.
func (s *State) listsNamed(title string) []int {
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

// letters returns the letters and digits of s, in lower case.
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
	return 0, 0, canvas.Errorf(CodeNoCard, "the board has no card %q; call get_board to see the ids", id)
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

// check returns an error if the board exceeds a limit.
func (s *State) check() error {
	if len(s.Lists) > MaxLists {
		return canvas.Errorf(CodeFull, "a board can have at most %d lists; remove one first", MaxLists)
	}
	if all, _ := s.counts(); all > MaxCards {
		return canvas.Errorf(CodeFull, "a board can have at most %d cards; remove some first", MaxCards)
	}
	if len(ahp.MustMarshal(s)) > MaxBytes {
		return canvas.Errorf(CodeFull, "a board can have at most %d KiB; remove or shorten something first", MaxBytes>>10)
	}
	return nil
}

// texts checks the texts of people and agents.
var texts = sample.Texts{Code: CodeInvalid}

// notes checks a card's notes.
func notes(s string) (string, error) {
	return texts.Lines("the notes", strings.TrimSpace(s), MaxNotes)
}
