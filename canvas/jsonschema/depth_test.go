package jsonschema

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func TestDepth(t *testing.T) {
	for v, want := range map[string]int{`1`: 0, `{}`: 1, `[[],[[]]]`: 3, `{"[[[":"\"[[["}`: 1, `{"a\\":[1]}`: 2} {
		if got := depth(ahp.Value(v)); got != want {
			t.Errorf("%s: %d, want %d", v, got, want)
		}
	}
}
