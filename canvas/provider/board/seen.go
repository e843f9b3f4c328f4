package board

import (
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// seen is what the caller of an action saw of the card or list that it changes. An action
// fails with CodeChanged if that is different now: a tick on "Buy milk" is none on the text
// that replaced it. Absent members are not compared.
type seen struct {
	Title *string           `json:"title,omitzero"`
	Notes *string           `json:"notes,omitzero"`
	List  *string           `json:"list,omitzero"`  // the id of a card's list
	Cards map[string]string `json:"cards,omitzero"` // a list's cards: titles by id
}

// texts returns s without the place of a card.
func (s *seen) texts() *seen {
	if s == nil {
		return nil
	}
	return &seen{Title: s.Title, Notes: s.Notes}
}

// cardSeen finds a card that is as the caller saw it.
func (b *board) cardSeen(id string, s *seen) (list, at int, err error) {
	if list, at, err = b.card(id); err != nil {
		return 0, 0, err
	}
	return list, at, b.checkSeen(list, at, s)
}

// checkSeen returns an error if a card is not as the caller saw it.
func (b *board) checkSeen(list, at int, s *seen) error {
	if s == nil {
		return nil
	}
	c, l := b.Lists[list].Cards[at], b.Lists[list]
	switch {
	case differs(s.Title, c.Title):
		return canvas.Errorf(CodeChanged, "the card “%s” is now called “%s”; check it again", *s.Title, c.Title)
	case differs(s.Notes, c.Notes):
		return canvas.Errorf(CodeChanged, "the notes of “%s” were changed meanwhile; check them again", c.Title)
	case differs(s.List, l.ID):
		return canvas.Errorf(CodeChanged, "“%s” was moved to “%s” meanwhile; check it again", c.Title, l.Title)
	}
	return nil
}

// listSeen finds a list that is as the caller saw it. Cards that the list has lost since do
// not matter.
func (b *board) listSeen(ref string, s *seen) (int, error) {
	i, err := b.list(ref)
	if err != nil || s == nil {
		return i, err
	}
	l := b.Lists[i]
	if differs(s.Title, l.Title) {
		return 0, canvas.Errorf(CodeChanged, "the list “%s” is now called “%s”; check it again", *s.Title, l.Title)
	}
	if s.Cards == nil {
		return i, nil
	}
	for _, c := range l.Cards {
		title, known := s.Cards[c.ID]
		if !known || title != c.Title {
			return 0, canvas.Errorf(CodeChanged, "the card “%s” in “%s” is new or was changed meanwhile; check the list again", c.Title, l.Title)
		}
	}
	return i, nil
}

// differs reports whether the caller saw a text, and another one than now.
func differs(saw *string, now string) bool { return saw != nil && *saw != now }
