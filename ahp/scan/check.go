package scan

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/segmentio/asm/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp/mark"
)

// Limits bound a text beyond its syntax.
type Limits struct {
	// Depth is how many objects and arrays may be open at once.
	Depth int
	// Values is how many values the text may hold, without member names. A
	// negative number is no limit.
	Values int
	// Uncounted names members, below the top object, whose values do not count.
	// Depth applies to them too.
	Uncounted string
}

// Members receives the members of a text's top object, in their order.
type Members interface {
	// Member receives a decoded name and its value as it stands in the text. The
	// name is valid during the call only.
	Member(name, value []byte)
}

// The rules that a text can break.
var (
	ErrSyntax    = errors.New("invalid JSON")
	ErrUTF8      = errors.New("invalid UTF-8")
	ErrDuplicate = errors.New("duplicate member name")
	ErrDepth     = errors.New("nested too deep")
	ErrValues    = errors.New("too many values")
)

var checkers = sync.Pool{New: func() any { return new(checker) }}

// Check validates one JSON value and reports the members of a top object. It is
// stricter than RFC 8259: duplicate names, compared after decoding, and anything
// that is not UTF-8, lone surrogates included, are errors at every depth.
// ahp.Unmarshal accepts the same texts.
//
// kind is the first byte of the value, or 0. On error, members may have received
// some members.
func Check(data []byte, limits Limits, members Members) (kind byte, err error) {
	c := checkers.Get().(*checker)
	defer c.release()
	c.data, c.limits, c.members = data, limits, members
	c.space()
	kind = c.peek()
	if err := c.value(); err != nil {
		return kind, err
	}
	c.space()
	switch {
	case c.pos != len(data):
		return kind, ErrSyntax
	case c.seen&mark.Highs != 0 && !utf8.Valid(data): // the whole text at once costs a tenth of string by string
		return kind, ErrUTF8
	}
	return kind, nil
}

const keepNames = 256 // more space than this is not kept for reuse

// release returns a checker to the pool, without a reference to the text.
func (c *checker) release() {
	names := c.names[:cap(c.names)]
	clear(names)
	if len(names) > keepNames {
		names = nil
	}
	*c = checker{names: names[:0]}
	checkers.Put(c)
}

// OpenString checks the beginning of a text. If it ends inside a string value,
// OpenString returns where that string begins, and its JSON Pointer; otherwise
// start is 0. members receives the complete members before it. UTF-8 is not
// checked, because the beginning may end inside a character.
func OpenString(data []byte, limits Limits, members Members) (start int, pointer string) {
	c := checker{data: data, limits: limits, members: members}
	c.space()
	if c.value() == nil || c.open == 0 {
		return 0, ""
	}
	for _, token := range slices.Backward(c.path) {
		pointer += "/" + pointerEscapes.Replace(token)
	}
	return c.open, pointer
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901 section 3
