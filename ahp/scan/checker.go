package scan

import (
	"bytes"
	"strconv"
)

// checker is the state of Check and OpenString.
type checker struct {
	data    []byte
	pos     int
	depth   int
	values  int
	exempt  int // open members named limits.Uncounted
	limits  Limits
	members Members
	names   []name // of all open objects, one behind the other
	seen    uint64 // the bytes of all strings, eight to a word, combined with OR

	// If the text ends inside a string value: where the string begins, and the
	// tokens of its JSON Pointer, last one first.
	open int
	path []string
}

// name is a member name of an open object, without its quotes.
type name struct {
	raw     []byte
	escaped bool
}

func (n name) text() []byte {
	if n.escaped {
		return unescape(n.raw)
	}
	return n.raw
}

// manyNames is the size from which an object's names are kept in a map.
const manyNames = 24

// peek returns the next byte, or 0 at the end. No value begins with 0.
func (c *checker) peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return 0
}

func (c *checker) space() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *checker) value() error {
	if c.exempt == 0 {
		c.values++
		if c.limits.Values >= 0 && c.values > c.limits.Values {
			return ErrValues
		}
	}
	switch ch := c.peek(); ch {
	case '{':
		return c.nested(c.object)
	case '[':
		return c.nested(c.array)
	case '"':
		at := c.pos
		_, err := c.str()
		if err != nil {
			c.open = at
		}
		return err
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	default:
		return c.number()
	}
}

// nested reads an object or an array, one level deeper.
func (c *checker) nested(read func() error) error {
	c.depth++
	if c.depth > c.limits.Depth {
		return ErrDepth
	}
	c.pos++
	err := read()
	c.depth--
	return err
}

func (c *checker) array() error {
	c.space()
	if c.peek() == ']' {
		c.pos++
		return nil
	}
	for i := 0; ; i++ {
		c.space()
		if err := c.value(); err != nil {
			if c.open > 0 {
				c.path = append(c.path, strconv.Itoa(i))
			}
			return err
		}
		if more, err := c.next(']'); !more {
			return err
		}
	}
}

// next reads the comma behind an element, or the closing bracket.
func (c *checker) next(end byte) (more bool, err error) {
	c.space()
	ch := c.peek()
	c.pos++
	switch ch {
	case ',':
		return true, nil
	case end:
		return false, nil
	}
	return false, ErrSyntax
}

func (c *checker) object() error {
	c.space()
	if c.peek() == '}' {
		c.pos++
		return nil
	}
	base := len(c.names)
	defer func() { c.names = c.names[:base] }()
	var many map[string]struct{}
	for {
		c.space()
		n, err := c.str()
		if err != nil {
			return err
		}
		if many, err = c.unique(base, many, n); err != nil {
			return err
		}
		c.space()
		if c.peek() != ':' {
			return ErrSyntax
		}
		c.pos++
		c.space()
		if err := c.member(n); err != nil {
			if c.open > 0 {
				c.path = append(c.path, string(n.text()))
			}
			return err
		}
		if more, err := c.next('}'); !more {
			return err
		}
	}
}

// unique reports a name that the open object has already. It compares a few
// names one by one and looks many up in a map, so that no object takes quadratic
// time. base is where the object's names begin.
func (c *checker) unique(base int, many map[string]struct{}, n name) (map[string]struct{}, error) {
	if many != nil {
		if _, ok := many[string(n.text())]; ok {
			return many, ErrDuplicate
		}
		many[string(n.text())] = struct{}{}
		return many, nil
	}
	for _, m := range c.names[base:] {
		if bytes.Equal(m.raw, n.raw) || ((m.escaped || n.escaped) && bytes.Equal(m.text(), n.text())) {
			return nil, ErrDuplicate
		}
	}
	c.names = append(c.names, n)
	if len(c.names)-base < manyNames {
		return nil, nil
	}
	many = make(map[string]struct{}, 2*manyNames)
	for _, m := range c.names[base:] {
		many[string(m.text())] = struct{}{}
	}
	return many, nil
}

// member reads the value of the member n.
func (c *checker) member(n name) error {
	if c.depth == 1 {
		start := c.pos
		err := c.value()
		if err == nil {
			c.members.Member(n.text(), c.data[start:c.pos:c.pos])
		}
		return err
	}
	if c.limits.Uncounted == "" || string(n.text()) != c.limits.Uncounted {
		return c.value()
	}
	c.exempt++
	err := c.value()
	c.exempt--
	return err
}
