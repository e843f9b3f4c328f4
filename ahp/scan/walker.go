package scan

import "bytes"

// Walker steps through one JSON text that has been validated. It treats commas
// and colons as white space, and so relies on the validation.
type Walker struct {
	text []byte
	pos  int
}

// Walk returns a Walker at the beginning of text.
func Walk(text []byte) Walker { return Walker{text: text} }

// Peek returns the first byte of the next value or member name, a closing
// bracket, or 0 at the end of the text.
func (w *Walker) Peek() byte {
	for w.pos < len(w.text) {
		switch c := w.text[w.pos]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			w.pos++
		default:
			return c
		}
	}
	return 0
}

// Enter steps into the next value, an object or an array.
func (w *Walker) Enter() {
	if w.Peek() != 0 {
		w.pos++
	}
}

// More reports whether the open object or array has another element. If not, it
// steps out. end is the closing bracket.
func (w *Walker) More(end byte) bool {
	switch w.Peek() {
	case end:
		w.pos++
		return false
	case 0:
		return false
	}
	return true
}

// Name steps over a member name and returns it decoded.
func (w *Walker) Name() []byte {
	if w.Peek() != '"' {
		return Inside(w.Value())
	}
	start := w.pos
	w.skipString()
	return Inside(w.text[start:w.pos])
}

// Value steps over the next value or member name and returns its text.
func (w *Walker) Value() []byte {
	first := w.Peek()
	start := w.pos
	switch first {
	case 0:
	case '"':
		w.skipString()
	case '{', '[', '}', ']':
		w.skipNested()
	default:
		w.skipScalar()
	}
	return w.text[start:w.pos]
}

// skipNested steps over an object or an array by counting brackets.
func (w *Walker) skipNested() {
	for depth := 0; w.pos < len(w.text); {
		switch w.text[w.pos] {
		case '"':
			w.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		w.pos++
		if depth <= 0 {
			return
		}
	}
}

// skipString steps over a string, to the next quote that is not escaped.
func (w *Walker) skipString() {
	pos := w.pos + 1
	for {
		i := bytes.IndexByte(w.text[pos:], '"')
		if i < 0 {
			w.pos = len(w.text)
			return
		}
		escaped := false
		for at := pos + i - 1; at >= pos && w.text[at] == '\\'; at-- {
			escaped = !escaped
		}
		pos += i + 1
		if !escaped {
			w.pos = pos
			return
		}
	}
}

// skipScalar steps over a number or a literal.
func (w *Walker) skipScalar() {
	for w.pos < len(w.text) {
		switch w.text[w.pos] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}':
			return
		}
		w.pos++
	}
}

// Skim reports the members of the top object of a text that need not be valid, such as
// one that [Check] rejected for its depth. It returns false if the object does not end
// where the text ends. It takes linear time at any depth. What stands inside the members
// is unchecked, and a name can be reported twice.
func Skim(text []byte, members Members) bool {
	w := Walk(text)
	if w.Peek() != '{' {
		return false
	}
	w.Enter()
	for w.Peek() == '"' {
		name := w.Name()
		if w.Peek() == '}' {
			return false
		}
		value := w.Value()
		members.Member(name, value[:len(value):len(value)])
	}
	closed := w.Peek() == '}'
	w.Enter()
	return closed && w.Peek() == 0
}

// Measure returns how deeply a valid JSON text is nested and how many values it
// holds, the outermost included. Member names do not count.
func Measure(text []byte) (depth, values int) {
	w := Walk(text)
	for open := 0; ; {
		switch w.Peek() {
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
			if w.afterName() {
				continue
			}
		default:
			w.skipScalar()
		}
		values++
	}
}

// afterName reports whether the string that ends here is a member name.
func (w *Walker) afterName() bool {
	for _, c := range w.text[w.pos:] {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ':'
		}
	}
	return false
}
