package testcases

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/go-json-experiment/json/jsontext"
)

// Bindings are the values of the names that a transcript has bound. A name in
// an expectation, like "$canvas", is bound to the value at its first occurrence
// and must equal it afterwards. In a sent frame it is replaced by its value.
type Bindings map[string]ahp.Value

var (
	placeholder = regexp.MustCompile(`\$[a-z][A-Za-z0-9]*`)
	relative    = regexp.MustCompile(`^(\$[a-z][A-Za-z0-9]*)([+-]\d+)$`)
	filler      = regexp.MustCompile(`\$\{fill:(\d+)\}`)
	quoted      = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"$`)
)

// Expand returns a frame to send: names are replaced by their values, and
// ${fill:N} by N times the letter x. A line that is one Go string literal is
// unquoted instead, so that a transcript can send bytes that a text file cannot
// hold.
func (b Bindings) Expand(text string) (string, error) {
	if quoted.MatchString(text) {
		return strconv.Unquote(text)
	}
	text = filler.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(filler.FindStringSubmatch(m)[1])
		return strings.Repeat("x", n)
	})
	var missing error
	text = placeholder.ReplaceAllStringFunc(text, func(name string) string {
		v, ok := b[name]
		if !ok {
			missing = fmt.Errorf("%s is not bound", name)
			return name
		}
		return strings.Trim(string(v), `"`)
	})
	return text, missing
}

// Match compares a frame with an expectation: same members (absent and null
// differ), same order in arrays, numbers by their digits. A string "$name"
// matches any value and binds it, "$name+1" matches the bound number plus one,
// and "$*" matches any value. A member "$...": true allows members that the
// expectation does not name; a first element "$..." of an array allows other
// elements before the rest.
func (b Bindings) Match(want, got ahp.Value) error { return b.match("", want, got) }

func (b Bindings) match(place string, want, got ahp.Value) error {
	if want.Kind() == '"' {
		if name := unquote(want); name == "$*" || placeholder.FindString(name) == name && name != "" {
			return b.bind(place, name, got)
		}
		if parts := relative.FindStringSubmatch(unquote(want)); parts != nil {
			return b.offset(place, parts[1], parts[2], got)
		}
	}
	switch {
	case want.Kind() != got.Kind():
	case want.Kind() == '{':
		return b.matchObject(place, want, got)
	case want.Kind() == '[':
		return b.matchArray(place, want, got)
	case want.Kind() == '"':
		if expanded, err := b.Expand(" " + unquote(want)); err == nil && expanded[1:] == unquote(got) {
			return nil
		}
	case string(want) == string(got):
		return nil
	}
	return fmt.Errorf("%s: want %s, got %s", place, want, got)
}

func (b Bindings) bind(place, name string, got ahp.Value) error {
	if name == "$*" {
		return nil
	}
	if old, ok := b[name]; ok && !ahp.Equal(old, got) {
		return fmt.Errorf("%s: %s is bound to %s, got %s", place, name, old, got)
	}
	b[name] = got.Clone()
	return nil
}

// offset matches a number at a distance from a bound one: "$n+1".
func (b Bindings) offset(place, name, steps string, got ahp.Value) error {
	base, err := strconv.ParseInt(string(b[name]), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %s is not bound to an integer", place, name)
	}
	by, err := strconv.ParseInt(steps, 10, 64)
	if want := strconv.FormatInt(base+by, 10); err != nil || string(got) != want {
		return fmt.Errorf("%s: want %s (%s%s), got %s", place, want, name, steps, got)
	}
	return nil
}

func (b Bindings) matchArray(place string, want, got ahp.Value) error {
	w, g := elements(want), elements(got)
	if len(w) > 0 && string(w[0]) == `"$..."` && len(g) >= len(w)-1 {
		w, g = w[1:], g[len(g)-(len(w)-1):]
	}
	if len(w) != len(g) {
		return fmt.Errorf("%s: want %d elements, got %d: %s", place, len(w), len(g), got)
	}
	for i := range w {
		if err := b.match(fmt.Sprintf("%s/%d", place, i), w[i], g[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b Bindings) matchObject(place string, want, got ahp.Value) error {
	w, g := members(want), members(got)
	_, open := w["$..."]
	delete(w, "$...")
	for _, name := range sortedKeys(w) {
		v, ok := g[name]
		if !ok {
			return fmt.Errorf("%s/%s: missing in %s", place, name, got)
		}
		if err := b.match(place+"/"+name, w[name], v); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(g) {
		if _, ok := w[name]; !ok && !open {
			return fmt.Errorf("%s/%s: unexpected %s", place, name, g[name])
		}
	}
	return nil
}

func elements(v ahp.Value) []ahp.Value {
	var out []ahp.Value
	if err := ahp.Unmarshal(v, &out); err != nil {
		return nil
	}
	return out
}

func members(v ahp.Value) map[string]ahp.Value {
	out := map[string]ahp.Value{}
	if err := ahp.Unmarshal(v, &out); err != nil {
		return nil
	}
	return out
}

func unquote(v ahp.Value) string {
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(s)
}

func sortedKeys(m map[string]ahp.Value) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
