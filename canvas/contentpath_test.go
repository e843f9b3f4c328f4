package canvas_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

func TestParseContentURI(t *testing.T) {
	for uri, want := range map[string]canvas.ContentPath{
		"ahp-canvas-content:/i1/":                   {Dir: true},
		"ahp-canvas-content:/i1":                    {Dir: true},
		"ahp-canvas-content:/i1?x=1":                {Dir: true, Query: "x=1"},
		"ahp-canvas-content:/i1/index.html":         {Segments: []string{"index.html"}},
		"ahp-canvas-content:/i1/a/b.js?v=1&w=/../?": {Segments: []string{"a", "b.js"}, Query: "v=1&w=/../?"},
		`ahp-canvas-content:/i1/a?q=\b&%5c`:         {Segments: []string{"a"}, Query: `q=\b&%5c`}, // queries are not checked
		"ahp-canvas-content:/i1/dir/":               {Segments: []string{"dir"}, Dir: true},
		"ahp-canvas-content:/i1/a%20b/%C3%A4%25":    {Segments: []string{"a b", "ä%"}},
		"ahp-canvas-content:/i1/ä":                  {Segments: []string{"ä"}},
		"ahp-canvas-content:/i1/...":                {Segments: []string{"..."}},
		"ahp-canvas-content:/i1/.git/config":        {Segments: []string{".git", "config"}}, // a matter for the provider
	} {
		id, got, err := canvas.ParseContentURI(uri)
		if err != nil || id != "i1" {
			t.Errorf("%s: %q, %v", uri, id, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +have)\n%s", uri, diff)
		}
	}
}

func TestParseContentURIRefuses(t *testing.T) {
	for _, path := range []string{
		"/..", "/../x", "/a/../b", "/a/..", "/.", "/a/./b", "//", "//x", "/a//b", "/a//",
		"/%2e%2e/x", "/%2E", "/a%2Fb", "/a%2fb", "/a%5cb", "/a%5Cb", "/%00", "/a%", "/a%2", "/a%zz", "/%ff",
		`/a\b`, `/..\x`, `/a\?q`, "/a?q\x00", "/a\x00b", "/a\nb", "/a\x7f", "/a?q\r\nx", "/a#b", "/#", "#", "/\xff",
		"/" + strings.Repeat("x", 2048), "/x?" + strings.Repeat("y", 2046),
	} {
		if _, p, err := canvas.ParseContentURI("ahp-canvas-content:/i1" + path); err == nil {
			t.Errorf("%q is %+v", path, p)
		}
	}
	for _, uri := range []string{"", "ahp-canvas-content:", "ahp-canvas-content:/", "ahp-canvas-content://i1/x", "ahp-canvas-content:i1/x", "AHP-CANVAS-CONTENT:/i1/x", "file:///etc/passwd", "ahp-canvas-content:/i%3/x", "ahp-canvas-content:/i%0a/x", "ahp-canvas-content:/%ff/x"} {
		if _, _, err := canvas.ParseContentURI(uri); err == nil {
			t.Errorf("%q was read", uri)
		}
	}
	if _, _, err := canvas.ParseContentURI("ahp-canvas-content:/i1/" + strings.Repeat("x", 2047)); err != nil {
		t.Errorf("2,048 bytes: %v", err)
	}
}

// FuzzContentURI: a parsed path cannot leave its instance, and parses again to the
// same value.
func FuzzContentURI(f *testing.F) {
	for _, seed := range []string{"ahp-canvas-content:/i1/a/b?q", "ahp-canvas-content:/i1/%C3%A4/", "ahp-canvas-content:/i1", "ahp-canvas-content:/i1/..%2f", "ahp-canvas-content:/i1/a%2eb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		id, p, err := canvas.ParseContentURI(uri)
		if err != nil {
			return
		}
		for _, s := range p.Segments {
			if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "/\\\x00") {
				t.Fatalf("%q has the segment %q", uri, s)
			}
		}
		again := "ahp-canvas-content:/" + id + p.String()
		id2, p2, err := canvas.ParseContentURI(again)
		if len(again) <= canvas.MaxContentPath && (err != nil || id2 != id || !cmp.Equal(p, p2)) {
			t.Fatalf("%q is %+v, and written again %+v, %v", uri, p, p2, err)
		}
	})
}

func TestContentURL(t *testing.T) {
	for path, want := range map[string]string{
		"/": "ahp-canvas-content:/i/", "": "ahp-canvas-content:/i/", "index.html": "ahp-canvas-content:/i/index.html",
		"/a b/c#d.html?x=1#2": "ahp-canvas-content:/i/a%20b/c%23d.html?x=1#2", "/ä": "ahp-canvas-content:/i/%C3%A4",
	} {
		if got := canvas.ContentURL("i", path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
