package aap_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// TestInject: rules 1 to 3: the bridge is before the page's scripts, once, and says
// maestro; the rest of the page stays.
func TestInject(t *testing.T) {
	for _, page := range []string{"<!doctype html><html><head lang=a>|<script>x</script></head>", "|<div id=app></div>", "<!doctype html>|\n<p>", ""} {
		before, after, _ := strings.Cut(page, "|")
		got := string(aap.Inject([]byte(before + after)))
		if !strings.HasPrefix(got, before+"<script data-aap-bridge>") || !strings.HasSuffix(got, "</script>"+after) {
			t.Errorf("%q became %.80q…", page, got)
		}
		if again := aap.Inject([]byte(got)); !bytes.Equal(again, []byte(got)) {
			t.Errorf("%q has two bridges", page)
		}
		bridge := strings.TrimSuffix(strings.TrimPrefix(got, before), after)
		if strings.Count(bridge, "</script") != 2 || strings.Contains(bridge, "<!--") || !strings.Contains(bridge, `import("/.ahp/canvas.js")`) {
			t.Errorf("the bridge would end early: %s", bridge)
		}
	}
}

// FuzzInject: the rest of the page stays, and twice is once.
func FuzzInject(f *testing.F) {
	f.Add([]byte("<head><p>"))
	f.Add([]byte("<!doctype html><HTML><script data-aap-bridge></script>"))
	f.Add([]byte("<!doctype `tmlML;<script data-aap-bridge>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		once := aap.Inject(page)
		if twice := aap.Inject(once); !bytes.Equal(once, twice) {
			t.Errorf("%q has two bridges", page)
		}
		clean := bytes.ToValidUTF8(page, []byte("\uFFFD"))
		if bytes.Equal(once, clean) {
			return // it had a bridge, however its tag is written
		}
		before, after := 0, 0 // what is the same at the beginning and at the end
		for before < len(clean) && clean[before] == once[before] {
			before++
		}
		for after < len(clean) && clean[len(clean)-1-after] == once[len(once)-1-after] {
			after++
		}
		if len(once) < len(clean) || before+after < len(clean) {
			t.Errorf("%q became %q", page, once)
		}
	})
}
