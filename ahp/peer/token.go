package peer

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return errSyntax
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	switch c := s.peek(); {
	case c == '0':
		s.pos++
	case '1' <= c && c <= '9':
		s.digits()
	default:
		return errSyntax
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return errSyntax
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return errSyntax
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for '0' <= s.peek() && s.peek() <= '9' {
		s.pos++
	}
	return s.pos > start
}

// str reads a string and returns what is between its quotes.
func (s *scanner) str() (name, error) {
	if s.peek() != '"' {
		return name{}, errSyntax
	}
	s.pos++
	start := s.pos
	escaped := false
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			n := name{s.data[start:s.pos], escaped}
			s.pos++
			return n, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return name{}, err
			}
		case c < ' ':
			return name{}, errSyntax
		default:
			s.pos += s.plainRun(s.data[s.pos:])
		}
	}
	return name{}, errSyntax
}

// plainRun returns how many bytes at the beginning of b need no look of their own;
// the first is one. It looks at eight at a time, for strings are long.
func (s *scanner) plainRun(b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		s.seen |= w
		if marks := mark.Eight(w); marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
	}
	if n == 0 {
		s.seen |= uint64(b[0])
		return 1
	}
	return n
}

// escape checks one escape sequence; a surrogate must have its other half.
func (s *scanner) escape() error {
	r, n := escapeAt(s.data[s.pos:])
	if n == 0 {
		return errSyntax
	}
	if r == utf8.RuneError && n < 0 {
		return errUTF8
	}
	s.pos += n
	return nil
}
