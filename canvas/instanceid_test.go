package canvas_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// FuzzInstanceID: CheckInstanceID agrees with the pattern in the schemas, and an id is one
// segment of a content URI, which ends where the path begins.
func FuzzInstanceID(f *testing.F) {
	for _, id := range []string{"", "a", "9", "A.b_c-d", "-a", ".a", "_a", "a b", "a\n", "\na", "é", "a\x80", "a/b", ".", "..", "%2e", "a?b#c", "\\", "\u0085", "\u202e", strings.Repeat("ü", 128), strings.Repeat("😀", 129),
		strings.Repeat("x", 128), strings.Repeat("x", 129)} {
		f.Add(id)
	}
	pattern := regexp.MustCompile(canvas.InstanceIDPattern())
	f.Fuzz(func(t *testing.T, id string) {
		valid := canvas.CheckInstanceID(id) == nil
		if want := pattern.MatchString(id) && utf8.ValidString(id); valid != want { // JSON is valid UTF-8
			t.Errorf("%q: %v, the pattern says %v", id, valid, want)
		}
		if !valid {
			return
		}
		uri := canvas.ContentURL(id, "/a b?q")
		back, path, err := canvas.ParseContentURI(uri)
		if err != nil || back != id || path.Name() != "a b" || path.Query != "q" || path.URI(id) != uri {
			t.Errorf("%q: %s is %q, %q: %v", id, uri, back, path, err)
		}
		if u, err := url.Parse(uri); err != nil || strings.Count(u.EscapedPath(), "/") != 2 {
			t.Errorf("%q: %s: %v", id, uri, err)
		}
	})
}
