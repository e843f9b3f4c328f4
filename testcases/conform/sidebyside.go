package conform

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Row is a line of a comparison.
type Row struct {
	Want    string // what was expected; "" is nothing
	Have    string // what was received; "" is nothing
	Differs bool   // whether the two differ
}

// SideBySide compares an expectation with an actual value, member by member. A
// Result's problem begins with a place; its row is marked as different even if
// only the runner could see the difference (a name bound to another value).
// Equal values share one row, and "" means nothing. Texts that are not JSON are
// one row.
func SideBySide(want, have, problem string) []Row {
	c := &comparison{place: placeOf.FindString(problem)}
	w, h := ahp.Value(want), ahp.Value(have)
	if !w.IsValid() || !h.IsValid() || want == "" || have == "" {
		return c.alone(want, have)
	}
	c.compare("", "", "", w, h)
	return c.rows
}

var placeOf = regexp.MustCompile(`^/[^:]*`)

// alone compares two texts of which one is empty or not JSON.
func (c *comparison) alone(want, have string) []Row {
	lines := func(text string) []string {
		v := ahp.Value(text)
		switch {
		case text == "":
			return []string{"nothing"}
		case !v.IsValid() || v.Indent() != nil:
			return []string{text}
		}
		return strings.Split(strings.ReplaceAll(string(v), "\t", "  "), "\n")
	}
	w, h := lines(want), lines(have)
	for i := range max(len(w), len(h)) {
		row := Row{Differs: i == 0}
		if i < len(w) {
			row.Want = w[i]
		}
		if i < len(h) {
			row.Have = h[i]
		}
		c.rows = append(c.rows, row)
	}
	return c.rows
}

type comparison struct {
	place string // where the runner found the difference
	rows  []Row
}

// compare adds the rows for one value. key precedes it on its line.
func (c *comparison) compare(place, indent, key string, w, h ahp.Value) {
	switch {
	case w != nil && h != nil && !c.differ(place, w, h):
		c.rows = append(c.rows, Row{Want: indent + key + string(w), Have: indent + key + string(h)})
	case w.Kind() == '{' && h.Kind() == '{':
		c.add(indent, key, "{")
		c.members(place, indent+"  ", w, h)
		c.add(indent, "", "}")
	case w.Kind() == '[' && h.Kind() == '[':
		c.add(indent, key, "[")
		c.elements(place, indent+"  ", w, h)
		c.add(indent, "", "]")
	default:
		row := Row{Differs: true}
		if w != nil {
			row.Want = indent + key + string(w)
		}
		if h != nil {
			row.Have = indent + key + string(h)
		}
		c.rows = append(c.rows, row)
	}
}

func (c *comparison) add(indent, key, bracket string) {
	c.rows = append(c.rows, Row{Want: indent + key + bracket, Have: indent + key + bracket})
}

func (c *comparison) members(place, indent string, w, h ahp.Value) {
	wm, hm := read[map[string]ahp.Value](w), read[map[string]ahp.Value](h)
	_, open := wm["$..."]
	delete(wm, "$...")
	names := slices.Sorted(maps.Keys(wm))
	for _, name := range slices.Sorted(maps.Keys(hm)) {
		if _, both := wm[name]; !both && !open {
			names = append(names, name)
		}
	}
	for _, name := range names {
		c.compare(place+"/"+name, indent, name+": ", wm[name], hm[name])
	}
	if open {
		c.rows = append(c.rows, Row{Want: indent + "…", Have: indent + "…"})
	}
}

func (c *comparison) elements(place, indent string, w, h ahp.Value) {
	wl, hl := read[[]ahp.Value](w), read[[]ahp.Value](h)
	if len(wl) > 0 && string(wl[0]) == `"$..."` && len(hl) >= len(wl)-1 {
		wl, hl = wl[1:], hl[len(hl)-len(wl)+1:]
		c.rows = append(c.rows, Row{Want: indent + "…", Have: indent + "…"})
	}
	for i := range max(len(wl), len(hl)) {
		var we, he ahp.Value
		if i < len(wl) {
			we = wl[i]
		}
		if i < len(hl) {
			he = hl[i]
		}
		c.compare(place+"/"+itoa(i), indent, "", we, he)
	}
}

func read[T any](v ahp.Value) (out T) {
	_ = ahp.Unmarshal(v, &out)
	return out
}
