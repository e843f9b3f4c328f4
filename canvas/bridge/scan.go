package bridge

import (
	"bytes"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// scanner walks over one JSON text without building anything. The text was
// checked by whoever decoded the frame around it; on one that was not, the
// scanner may accept what is no JSON, but it never panics or reads past the end.
type scanner struct {
	text []byte
	at   int
	bad  bool
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// take steps over c, where it is next.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) need(c byte) {
	if !s.take(c) {
		s.fail()
	}
}

func (s *scanner) fail() { s.bad, s.at = true, len(s.text) }

// value steps over the next value and returns its text.
func (s *scanner) value() []byte {
	s.space()
	from := s.at
	if s.at >= len(s.text) {
		s.fail()
		return nil
	}
	switch s.text[s.at] {
	case '"':
		s.str()
	case '{', '[':
		s.nested()
	default:
		s.word()
	}
	return s.text[from:s.at]
}

// str steps over a string. Most hold no escape, so that one search finds the end.
func (s *scanner) str() {
	for i := s.at + 1; ; {
		n := bytes.IndexByte(s.text[i:], '"')
		if n < 0 {
			s.fail()
			return
		}
		end := i + n
		escapes := 0
		for end-escapes-1 > s.at && s.text[end-escapes-1] == '\\' {
			escapes++
		}
		i = end + 1
		if escapes%2 == 0 {
			s.at = i
			return
		}
	}
}

// nested steps over an array or an object, by counting its brackets.
func (s *scanner) nested() {
	for depth := 0; s.at < len(s.text); {
		switch s.text[s.at] {
		case '"':
			s.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
	s.fail()
}

// word steps over a number or a literal.
func (s *scanner) word() {
	from := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', ':', ']', '}', ' ', '\t', '\r', '\n', '"', '[', '{':
			if s.at == from {
				s.fail()
			}
			return
		}
		s.at++
	}
}

// members calls each with the name and value of an object's members, as they
// stand in the text. It reports whether the text is one object.
func (s *scanner) members(each func(name, value []byte)) bool {
	s.need('{')
	for first := true; !s.bad && !s.take('}'); first = false {
		if !first {
			s.need(',')
		}
		name := s.value()
		s.need(':')
		if value := s.value(); !s.bad {
			each(name, value)
		}
	}
	s.space()
	return !s.bad && s.at == len(s.text)
}

// elements calls each with the values of an array, while it returns true. It
// reports whether the text is one array and each agreed.
func (s *scanner) elements(each func(value []byte) bool) bool {
	s.need('[')
	for first := true; !s.bad && !s.take(']'); first = false {
		if !first {
			s.need(',')
		}
		if value := s.value(); s.bad || !each(value) {
			return false
		}
	}
	s.space()
	return !s.bad && s.at == len(s.text)
}

// text decodes a string; ok is false where the value is none.
func text(v []byte) (s string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	inner := v[1 : len(v)-1]
	for _, c := range inner {
		if c == '\\' || c < ' ' || c >= 0x80 {
			return s, ahp.Unmarshal(v, &s) == nil
		}
	}
	return string(inner), true
}

// integer decodes a whole number that is written as digits, at most max.
func integer(v []byte, max int64) (n int64, ok bool) {
	if len(v) == 0 || len(v) > 16 || len(v) > 1 && v[0] == '0' {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= max
}
