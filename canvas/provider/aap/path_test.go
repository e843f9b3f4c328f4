package aap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// TestValidPath: rule 15.
func TestValidPath(t *testing.T) {
	for _, p := range []string{"a.html", "reports/dashboard.html", "x", "č/ž.htm", "a b.html", "a%2e.html", "interactions.html", "x/interactions/a.html", strings.Repeat("a", 512)} {
		if !aap.ValidPath(p) {
			t.Errorf("%q is refused", p)
		}
	}
	for _, p := range []string{
		"", "/etc/passwd", "../../x.html", "..", "a..b.html", "reports/../old.HTM", `a\b.html`, "C:x.html", "c:/x.html", "./a.html", "a//b.html", "a/",
		".x/a.html", "x/.a.html", "interactions/a.html", "Interactions/a.html", "interactions", "a\x00b.html", "a\nb.html", "a\u0085b", "\xff.html", strings.Repeat("a", 513),
	} {
		if aap.ValidPath(p) {
			t.Errorf("%q is accepted", p)
		}
	}
}

// FuzzPath: a valid path is local, on this system too, and outside of the records.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"a.html", "../x", "a/../b", "/x", "C:x", "interactions/a.html", "a\\b"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if !aap.ValidPath(p) {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(p)) || filepath.ToSlash(filepath.Clean(filepath.FromSlash(p))) != p || strings.HasPrefix(p, "interactions/") {
			t.Errorf("%q is accepted", p)
		}
	})
}
