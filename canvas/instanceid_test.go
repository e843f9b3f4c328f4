package canvas_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// FuzzInstanceID: isInstanceID agrees with the pattern in the schemas.
func FuzzInstanceID(f *testing.F) {
	for _, id := range []string{"", "a", "9", "A.b_c-d", "-a", ".a", "_a", "a b", "a\n", "\na", "é", "a\x80", "a/b",
		strings.Repeat("x", 128), strings.Repeat("x", 129)} {
		f.Add(id)
	}
	pattern := regexp.MustCompile(canvas.InstanceIDPattern())
	f.Fuzz(func(t *testing.T, id string) {
		if got, want := canvas.CheckInstanceID(id) == nil, pattern.MatchString(id); got != want {
			t.Errorf("%q: %v, the pattern says %v", id, got, want)
		}
	})
}
