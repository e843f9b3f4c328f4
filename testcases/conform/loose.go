package conform

import (
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

func itoa(i int) string { return strconv.Itoa(i) }

// differ reports whether a value differs from the expected one, or contains the
// place where the runner found a difference. A name that a transcript binds
// matches any value here.
func (c *comparison) differ(place string, w, h ahp.Value) bool {
	if c.place != "" && (c.place == place || strings.HasPrefix(c.place, place+"/")) {
		return true
	}
	return testcases.Bindings{}.Match(loose(w), h) != nil
}

// loose replaces the names in an expectation by "$*", because their values are not
// known here.
func loose(w ahp.Value) ahp.Value {
	switch w.Kind() {
	case '"':
		if text := read[string](w); strings.Contains(text, "$") && text != "$..." {
			return ahp.Value(`"$*"`)
		}
	case '{':
		m := read[map[string]ahp.Value](w)
		for name := range m {
			m[name] = loose(m[name])
		}
		return ahp.MustMarshal(m)
	case '[':
		l := read[[]ahp.Value](w)
		for i := range l {
			l[i] = loose(l[i])
		}
		return ahp.MustMarshal(l)
	}
	return w
}
