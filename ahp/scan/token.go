package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

func (c *checker) literal(word string) error {
	if !bytes.HasPrefix(c.data[c.pos:], []byte(word)) {
		return ErrSyntax
	}
	c.pos += len(word)
	return nil
}

func (c *checker) number() error {
	if c.peek() == '-' {
		c.pos++
	}
	switch ch := c.peek(); {
	case ch == '0':
		c.pos++
	case '1' <= ch && ch <= '9':
		c.digits()
	default:
		return ErrSyntax
	}
	if c.peek() == '.' {
		c.pos++
		if !c.digits() {
			return ErrSyntax
		}
	}
	if ch := c.peek(); ch == 'e' || ch == 'E' {
		c.pos++
		if ch := c.peek(); ch == '+' || ch == '-' {
			c.pos++
		}
		if !c.digits() {
			return ErrSyntax
		}
	}
	return nil
}

func (c *checker) digits() bool {
	start := c.pos
	for '0' <= c.peek() && c.peek() <= '9' {
		c.pos++
	}
	return c.pos > start
}

// str reads a string and returns the text between its quotes.
func (c *checker) str() (name, error) {
	if c.peek() != '"' {
		return name{}, ErrSyntax
	}
	c.pos++
	start := c.pos
	escaped := false
	for c.pos < len(c.data) {
		switch ch := c.data[c.pos]; {
		case ch == '"':
			n := name{c.data[start:c.pos], escaped}
			c.pos++
			return n, nil
		case ch == '\\':
			escaped = true
			if err := c.escape(); err != nil {
				return name{}, err
			}
		case ch < ' ':
			return name{}, ErrSyntax
		default:
			c.pos += c.plainRun(c.data[c.pos:])
		}
	}
	return name{}, ErrSyntax
}

// plainRun returns how many bytes at the beginning of b are neither a quote, a
// backslash nor a control character. The first byte is known to be none. It
// compares eight at a time, because strings are long.
func (c *checker) plainRun(b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		c.seen |= w
		if marks := mark.Eight(w); marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
	}
	if n == 0 {
		c.seen |= uint64(b[0])
		return 1
	}
	return n
}

// escape checks one escape sequence. A surrogate needs its other half.
func (c *checker) escape() error {
	r, n := escapeAt(c.data[c.pos:])
	if n == 0 {
		return ErrSyntax
	}
	if r == utf8.RuneError && n < 0 {
		return ErrUTF8
	}
	c.pos += n
	return nil
}
