package board

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/sample"
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

// list finds a list by its id, or by its title where that is one list's alone:
// letters and digits count, so "todo" is "To do".
func (s *State) list(ref string) (int, error) {
	if i := slices.IndexFunc(s.Lists, func(l List) bool { return l.ID == ref }); i >= 0 {
		return i, nil
	}
	found := -1
	var titles []string
	for i, l := range s.Lists {
		titles = append(titles, fmt.Sprintf("%s (%q)", l.ID, l.Title))
		if key := letters(l.Title); key != "" && key == letters(ref) {
			if found >= 0 {
				return 0, canvas.Errorf(CodeNoList, "two lists are called %q: use an id: %s", ref, strings.Join(titles, ", "))
			}
			found = i
		}
	}
	if found < 0 {
		if titles == nil {
			titles = []string{"none, call add_list first"}
		}
		return 0, canvas.Errorf(CodeNoList, "no list is called %q; there are: %s", ref, strings.Join(titles, ", "))
	}
	return found, nil
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
