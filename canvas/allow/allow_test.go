package allow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// TestOrigins: what can be allowed, and its one spelling.
func TestOrigins(t *testing.T) {
	for given, want := range map[string]string{
		"https://cdn.example": "https://cdn.example", "https://CDN.example/": "https://cdn.example", "https://cdn.example:443": "https://cdn.example",
		"https://*.example.org": "https://*.example.org", "wss://live.example:8443": "wss://live.example:8443", "https://127.0.0.1:9": "https://127.0.0.1:9", "https://localhost:9": "https://localhost:9",
		"http://cdn.example": "", "ws://cdn.example": "", "cdn.example": "", "https://": "", "*": "", "https:": "", "https://*": "", "https://*.com": "", "https://a.*.example": "",
		"https://cdn.example/x": "", "https://cdn.example?x": "", "https://me@cdn.example": "", "https://cdn.example; script-src *": "", "https://cdn.example\n": "",
		`https://cdn.example"`: "", "https://cdn.example:0": "", "https://-a.example": "", "data:": "", "": "",
		"https://" + strings.Repeat("a.", 130) + "example": "",
	} {
		l, err := allow.New(map[string][]string{"x": {given}})
		got := strings.Join(l.For("", "x").Origins, " ")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	var many []string
	for n := range allow.MaxOrigins {
		many = append(many, fmt.Sprintf("https://a%d.example", n))
	}
	if _, err := allow.New(map[string][]string{"x": append(many, "https://a0.example")}); err != nil {
		t.Errorf("%d origins, one twice: %v", allow.MaxOrigins, err)
	}
	if _, err := allow.New(map[string][]string{"x": append(many, "https://more.example")}); err == nil {
		t.Error("too many origins are allowed")
	}
	if _, err := allow.New(map[string][]string{"": {"https://cdn.example"}}); err == nil {
		t.Error("origins without a name are allowed")
	}
}

// TestLabels: a label belongs to one name with one list, in any order.
func TestLabels(t *testing.T) {
	label := func(name string, origins ...string) string {
		t.Helper()
		l, err := allow.New(map[string][]string{name: origins})
		if err != nil {
			t.Fatal(err)
		}
		return l.For("", name).Label()
	}
	same := label("a", "https://x.example", "https://y.example")
	if got := label("a", "https://y.example", "https://X.example/", "https://x.example"); got != same {
		t.Errorf("the same list has the labels %s and %s", same, got)
	}
	all := []string{same, label("b", "https://x.example", "https://y.example"), label("a", "https://x.example"), label("a", "wss://x.example", "https://y.example"), allow.List{}.Label()}
	for n, l := range all {
		if !allow.IsLabel(l) || slices.Index(all, l) != n {
			t.Errorf("label %q", l)
		}
	}
	for _, s := range []string{"", "n", "d", "C", same + "0", same[:16], strings.ToUpper(same), "c-"} {
		if allow.IsLabel(s) {
			t.Errorf("%q is a label", s)
		}
	}
}

// TestFor: a canvas has the list of its id, or else its extension's.
func TestFor(t *testing.T) {
	l, err := allow.New(map[string][]string{"ext": {"https://of-ext.example", "wss://live.example"}, "own": {"https://of-own.example"}, "none": nil})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ ext, canvas, want string }{
		{"ext", "other", "https://of-ext.example wss://live.example"}, {"ext", "own", "https://of-own.example"}, {"else", "else", ""}, {"", "none", ""},
	} {
		if got := l.For(tt.ext, tt.canvas).Connections(); got != tt.want {
			t.Errorf("%s/%s: %q, want %q", tt.ext, tt.canvas, got, tt.want)
		}
	}
	ext := l.For("ext", "")
	if ext.Sources() != "https://of-ext.example" || ext.Quoted() != `"https://of-ext.example" "https://live.example"` || len(l.All()) != 2 {
		t.Errorf("%q %q %v", ext.Sources(), ext.Quoted(), l.All())
	}
	if want := fmt.Sprintf(`{%q:["https://of-own.example"]`, l.For("", "own").Label()); !strings.Contains(string(l.JSON())+string(l.JSON()), strings.TrimPrefix(want, "{")) {
		t.Errorf("JSON %s", l.JSON())
	}
	if got := string(allow.Lists{}.JSON()); got != "{}" {
		t.Errorf("without lists: %s", got)
	}
}
