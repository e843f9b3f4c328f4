package ahp

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// walker steps through JSON that was decoded before and so is well formed. A
// second decoder would read every byte of a large payload again; this one jumps
// from quote to quote.
type walker struct {
	data []byte
	pos  int
	path []string // where it is, for errors
}

// peek returns the first byte of the next value or name, or a closing bracket.
func (w *walker) peek() byte {
	for w.pos < len(w.data) {
		switch c := w.data[w.pos]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			w.pos++
		default:
			return c
		}
	}
	return 0
}

// enter steps into the object or array that comes next.
func (w *walker) enter() {
	w.peek()
	w.pos++
}

// more reports whether another element comes before the end of the object or
// array, and steps out of it where none does.
func (w *walker) more(end byte) bool {
	c := w.peek()
	if c == end || c == 0 {
		w.pos++
		return false
	}
	return true
}

// name reads a member name.
func (w *walker) name() []byte {
	w.peek()
	start := w.pos
	w.skipString()
	raw := w.data[start:w.pos]
	if bytes.IndexByte(raw, '\\') >= 0 {
		if plain, err := jsontext.AppendUnquote(nil, raw); err == nil {
			return plain
		}
	}
	return raw[1 : len(raw)-1]
}

// skip steps over the next value.
func (w *walker) skip() {
	depth := 0
	for w.pos < len(w.data) {
		switch w.peek() {
		case '"':
			w.skipString()
		case '{', '[':
			depth++
			w.pos++
			continue
		case '}', ']':
			depth--
			w.pos++
		default:
			w.skipScalar()
		}
		if depth <= 0 {
			return
		}
	}
}

// skipString steps over a string: to the next quote that is not escaped.
func (w *walker) skipString() {
	w.pos++
	for w.pos < len(w.data) {
		i := bytes.IndexByte(w.data[w.pos:], '"')
		if i < 0 {
			w.pos = len(w.data)
			return
		}
		end := w.pos + i
		escapes := 0
		for end-1-escapes >= w.pos && w.data[end-1-escapes] == '\\' {
			escapes++
		}
		w.pos = end + 1
		if escapes%2 == 0 {
			return
		}
	}
}

// skipScalar steps over a number or a literal.
func (w *walker) skipScalar() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}':
			return
		}
		w.pos++
	}
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// place is the path as a JSON Pointer.
func (w *walker) place() string {
	var b strings.Builder
	for _, p := range w.path {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(p))
	}
	return b.String()
}

// Measure returns how deep a well-formed value is nested and how many values it
// holds, itself included; member names do not count.
func Measure(v Value) (depth, values int) {
	w := &walker{data: v}
	open := 0
	for w.pos < len(w.data) {
		switch w.peek() {
		case 0:
			return depth, values
		case '{', '[':
			open++
			depth = max(depth, open)
			w.pos++
			values++
			continue
		case '}', ']':
			open--
			w.pos++
			continue
		case '"':
			w.skipString()
			if w.pos < len(w.data) && w.isName() {
				continue
			}
		default:
			w.skipScalar()
		}
		values++
	}
	return depth, values
}

// isName reports whether the string that was just read names a member.
func (w *walker) isName() bool {
	for _, c := range w.data[w.pos:] {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ':'
		}
	}
	return false
}
