package appview

import (
	"os"
	"strings"
	"testing"
)

// TestShell: the shell is small, loads nothing, and its address changes with it.
func TestShell(t *testing.T) {
	uri, html := New(Options{}).Page()
	if !IsPage(uri) || !IsPage("ui://ahp-canvas/0123456789ab.html") {
		t.Errorf("%s is not the shell", uri)
	}
	for _, other := range []string{"", "ui://ahp-canvas/", "ui://ahp-canvas/0123456789ab", "ui://other/0123456789ab.html", "ui://ahp-canvas/0123456789aB.html", "ui://ahp-canvas/../456789ab.html"} {
		if IsPage(other) {
			t.Errorf("%q is the shell", other)
		}
	}
	if len(html) > 24<<10 {
		t.Errorf("the shell has %d bytes, at most 24 KiB are allowed", len(html))
	}
	if n := strings.Count(html, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, part := range []string{"src=", "href=", "import ", "export ", "@ts-check", "@param", "{script}", "{style}", "://"} {
		if strings.Contains(html, part) {
			t.Errorf("the shell has %q", part)
		}
	}
	if name := os.Getenv("AHP_SHELL"); name != "" {
		if err := os.WriteFile(name, []byte(html), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
