package peer

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/segmentio/asm/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// scanner checks a message in one pass and notes where the members of its top
// object lie. It is stricter than RFC 8259 and agrees with ahp.Unmarshal:
// duplicate names (after unescaping) and anything that is not UTF-8, lone
// surrogates included, are errors at every depth. Beyond that it bounds depth
// and nodes.
type scanner struct {
	data     []byte
	pos      int
	depth    int
	nodes    int // values seen, strings are one each
	uncount  int // how many members named inputSchema are open: they count apart
	maxDepth int
	maxNodes int // negative is no limit
	names    []name
	top      *envelope
	seen     uint64 // all bytes of strings, eight to a word, one over the other

	// Where the text ends inside a string value, or is none in it: where that
	// begins, and the way from it to the top.
	open int
	way  []string
}

// name is a member name of an object that is open, without its quotes.
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

var (
	errSyntax    = errors.New("invalid JSON")
	errUTF8      = errors.New("invalid UTF-8")
	errDuplicate = errors.New("duplicate member name")
	errDepth     = errors.New("nested too deep")
	errNodes     = errors.New("too many values")
)

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scan checks data and fills env with the members of a top object. kind is the
// first byte of the value.
func scan(data []byte, maxDepth, maxNodes int, env *envelope) (kind byte, err error) {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	*s = scanner{data: data, maxDepth: maxDepth, maxNodes: maxNodes, names: s.names[:0], top: env}
	s.space()
	kind = s.peek()
	if err := s.value(); err != nil {
		return kind, err
	}
	s.space()
	s.top, s.data = nil, nil
	clear(s.names)
	switch {
	case s.pos != len(data):
		return kind, errSyntax
	case s.seen&mark.Highs != 0 && !utf8.Valid(data): // at once it costs a tenth
		return kind, errUTF8
	}
	return kind, nil
}

// opening scans the beginning of a message, which may end within a letter: whether
// it is UTF-8 is seen when the rest has come. Where that ends inside a string that
// is a value, it returns where the string begins, and its JSON Pointer. env has
// the members that stand before.
func opening(data []byte, maxDepth, maxNodes int, env *envelope) (at int, pointer string) {
	s := scanner{data: data, maxDepth: maxDepth, maxNodes: maxNodes, top: env}
	s.space()
	if s.value() == nil || s.open == 0 {
		return 0, ""
	}
	for _, token := range slices.Backward(s.way) {
		pointer += "/" + pointerEscapes.Replace(token)
	}
	return s.open, pointer
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901 section 3

// peek returns the next byte, or 0 at the end (which is nothing's first byte).
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) value() error {
	if s.uncount == 0 {
		s.nodes++
		if s.maxNodes >= 0 && s.nodes > s.maxNodes {
			return errNodes
		}
	}
	switch c := s.peek(); c {
	case '{':
		return s.nested(s.object)
	case '[':
		return s.nested(s.array)
	case '"':
		at := s.pos
		_, err := s.str()
		if err != nil {
			s.open = at
		}
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *scanner) nested(read func() error) error {
	s.depth++
	if s.depth > s.maxDepth {
		return errDepth
	}
	s.pos++
	err := read()
	s.depth--
	return err
}

func (s *scanner) array() error {
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for i := 0; ; i++ {
		s.space()
		if err := s.value(); err != nil {
			if s.open > 0 {
				s.way = append(s.way, strconv.Itoa(i))
			}
			return err
		}
		if more, err := s.next(']'); !more {
			return err
		}
	}
}

// next reads what stands behind an element: a comma, or the end.
func (s *scanner) next(end byte) (more bool, err error) {
	s.space()
	c := s.peek()
	s.pos++
	switch c {
	case ',':
		return true, nil
	case end:
		return false, nil
	}
	return false, errSyntax
}

func (s *scanner) object() error {
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	base := len(s.names)
	defer func() { s.names = s.names[:base] }()
	var many map[string]struct{}
	for {
		s.space()
		n, err := s.str()
		if err != nil {
			return err
		}
		if many, err = s.unique(base, many, n); err != nil {
			return err
		}
		s.space()
		if s.peek() != ':' {
			return errSyntax
		}
		s.pos++
		s.space()
		if err := s.member(n); err != nil {
			if s.open > 0 {
				s.way = append(s.way, string(n.text()))
			}
			return err
		}
		if more, err := s.next('}'); !more {
			return err
		}
	}
}

// unique refuses a name that the open object has already. A few names are
// compared one by one, many through a map, so that no object costs quadratic
// time.
func (s *scanner) unique(base int, many map[string]struct{}, n name) (map[string]struct{}, error) {
	if many != nil {
		if _, ok := many[string(n.text())]; ok {
			return many, errDuplicate
		}
		many[string(n.text())] = struct{}{}
		return many, nil
	}
	for _, m := range s.names[base:] {
		if bytes.Equal(m.raw, n.raw) || ((m.escaped || n.escaped) && bytes.Equal(m.text(), n.text())) {
			return nil, errDuplicate
		}
	}
	s.names = append(s.names, n)
	if len(s.names)-base < manyNames {
		return nil, nil
	}
	many = make(map[string]struct{}, 2*manyNames)
	for _, m := range s.names[base:] {
		many[string(m.text())] = struct{}{}
	}
	return many, nil
}

func (s *scanner) member(n name) error {
	if s.depth == 1 {
		start := s.pos
		err := s.value()
		if err == nil {
			s.top.set(n, s.data[start:s.pos:s.pos])
		}
		return err
	}
	if string(n.text()) != "inputSchema" {
		return s.value()
	}
	s.uncount++
	err := s.value()
	s.uncount--
	return err
}
