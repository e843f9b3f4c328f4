package a2ui

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// A quickVerdict is what a quick check of a value came to. Only the schema library explains why a
// value is refused, so quick checks matter for valid values, which most are.
type quickVerdict int8

const (
	unsure quickVerdict = iota // the schema library decides
	fits
	breaks
)

// quickSchema is a schema in a form that is checked without allocation. A keyword that it
// does not know makes it unsure of everything; fits and breaks are always those of the
// schema library.
type quickSchema struct {
	unsure       bool
	types        typeSet // 0 is every type
	constant     any     // a string or a bool; nil without one
	enum         map[string]bool
	pattern      *regexp.Regexp
	minimum      string
	minItems     int
	minProps     int
	maxProps     int // -1 without one
	required     []string
	properties   map[string]*quickSchema
	others       *quickSchema // additionalProperties; nil allows all
	items        *quickSchema
	all          []*quickSchema // allOf, and $ref
	any, one     []*quickSchema
	not          *quickSchema
	cond         *quickSchema // if
	then, orElse *quickSchema
	never        bool            // the schema false
	closed       bool            // unevaluatedProperties is false
	evaluated    map[string]bool // if closed: properties that are always evaluated
	conditional  bool            // if closed: others can be evaluated too
}

type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBool
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject
)

var typeNames = map[string]typeSet{
	"null": typeNull, "boolean": typeBool, "number": typeNumber, "integer": typeInteger,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// maxQuick limits how many schemas are checked inside each other.
const maxQuick = 256

// check checks a decoded value.
func (q *quickSchema) check(v any, levels int) quickVerdict {
	switch {
	case q.never:
		return breaks
	case q.unsure || levels == 0:
		return unsure
	}
	got := q.kind(v)
	if got == breaks {
		return breaks
	}
	switch v := v.(type) {
	case string:
		got = both(got, q.text(v))
	case json.Number:
		got = both(got, q.number(string(v)))
	case []any:
		got = both(got, q.list(v, levels))
	case map[string]any:
		got = both(got, q.object(v, levels))
	}
	for _, sub := range q.all {
		if got == breaks {
			return breaks
		}
		got = both(got, sub.check(v, levels-1))
	}
	if got == breaks {
		return breaks
	}
	return both(got, q.alternatives(v, levels-1))
}

// both is the verdict of two conditions.
func both(a, b quickVerdict) quickVerdict {
	switch {
	case a == breaks || b == breaks:
		return breaks
	case a == unsure || b == unsure:
		return unsure
	}
	return fits
}

// when is fits or breaks.
func when(ok bool) quickVerdict {
	if ok {
		return fits
	}
	return breaks
}

// kind checks type, const and enum.
func (q *quickSchema) kind(v any) quickVerdict {
	got := fits
	if q.types != 0 {
		got = q.typed(v)
	}
	if q.constant != nil {
		got = both(got, when(v == q.constant)) // values that cannot be compared are of other types
	}
	if q.enum != nil {
		s, ok := v.(string)
		got = both(got, when(ok && q.enum[s]))
	}
	return got
}

func (q *quickSchema) typed(v any) quickVerdict {
	is := typeNull
	switch v := v.(type) {
	case bool:
		is = typeBool
	case string:
		is = typeString
	case []any:
		is = typeArray
	case map[string]any:
		is = typeObject
	case json.Number:
		if is = typeNumber; q.types&typeInteger != 0 && q.types&typeNumber == 0 {
			if len(v) <= 15 && strings.Trim(string(v), "-0123456789") == "" {
				return fits
			}
			return unsure // as in 1.0 and 1e2, which are integers
		}
	}
	return when(q.types&is != 0)
}

func (q *quickSchema) text(s string) quickVerdict {
	return when(q.pattern == nil || q.pattern.MatchString(s))
}

// number compares numbers as floats, whose order is that of decimals unless they are equal.
func (q *quickSchema) number(s string) quickVerdict {
	if q.minimum == "" || s == q.minimum {
		return fits
	}
	have, err1 := strconv.ParseFloat(s, 64)
	least, err2 := strconv.ParseFloat(q.minimum, 64)
	if err1 != nil || err2 != nil || have == least {
		return unsure
	}
	return when(have > least)
}

func (q *quickSchema) list(list []any, levels int) quickVerdict {
	if len(list) < q.minItems {
		return breaks
	}
	got := fits
	if q.items == nil {
		return got
	}
	for _, e := range list {
		if got = both(got, q.items.check(e, levels-1)); got == breaks {
			return breaks
		}
	}
	return got
}

func (q *quickSchema) object(m map[string]any, levels int) quickVerdict {
	if len(m) < q.minProps || q.maxProps >= 0 && len(m) > q.maxProps {
		return breaks
	}
	for _, name := range q.required {
		if _, ok := m[name]; !ok {
			return breaks
		}
	}
	got := fits
	for name, v := range m {
		switch sub := q.properties[name]; {
		case sub != nil:
			got = both(got, sub.check(v, levels-1))
		case q.others != nil:
			got = both(got, q.others.check(v, levels-1))
		}
		if q.closed && !q.evaluated[name] {
			if !q.conditional {
				return breaks
			}
			got = both(got, unsure)
		}
		if got == breaks {
			return breaks
		}
	}
	return got
}

// alternatives checks anyOf, oneOf, not, and if.
func (q *quickSchema) alternatives(v any, levels int) quickVerdict {
	got := fits
	if q.any != nil {
		n, unclear := count(q.any, v, levels, 1)
		if n == 0 {
			got = both(got, when(false))
			if unclear {
				got = unsure
			}
		}
	}
	if q.one != nil {
		n, unclear := count(q.one, v, levels, 2)
		switch {
		case n > 1:
			return breaks
		case unclear:
			got = both(got, unsure)
		default:
			got = both(got, when(n == 1))
		}
	}
	if q.not != nil {
		switch q.not.check(v, levels) {
		case fits:
			return breaks
		case unsure:
			got = both(got, unsure)
		}
	}
	return both(got, q.conditionally(v, levels))
}

func (q *quickSchema) conditionally(v any, levels int) quickVerdict {
	if q.cond == nil {
		return fits
	}
	next := q.then
	switch q.cond.check(v, levels) {
	case unsure:
		return unsure
	case breaks:
		next = q.orElse
	}
	if next == nil {
		return fits
	}
	return next.check(v, levels)
}

// count counts the schemas that a value fits, up to a number. It reports whether others
// were unsure.
func count(list []*quickSchema, v any, levels, most int) (n int, unclear bool) {
	for _, q := range list {
		switch q.check(v, levels) {
		case fits:
			if n++; n == most {
				return n, unclear
			}
		case unsure:
			unclear = true
		}
	}
	return n, unclear
}
