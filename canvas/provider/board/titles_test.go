package board

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestListsByTitle: an exact title finds its list, also if its letters do not
// distinguish it from another, or if it has none.
func TestListsByTitle(t *testing.T) {
	b, err := open(board{}, ahp.Value(`{"lists":["C","C++","🚀"," C  ++","C++"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"C++", "🚀", "C", " C ++"} {
		b = do(t, b, `add_card {"title":"x","list":"`+title+`"}`)
	}
	if b, err = open(b, ahp.Value(`{"title":"again","lists":["🚀","C++","c","d"]}`)); err != nil {
		t.Fatal(err)
	}
	b = do(t, b, `add_list {"title":"d"}`)
	if b, err = open(b, ahp.Value(`{"lists":["d"]}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := sketch(b.State), "C: x | C++: x | 🚀: x | C ++: x | d: | d:"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
