package a2ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// finding is one reason why a value breaks its schema.
type finding struct {
	at    []string // where in the value
	words string
	// want and have are the words of a finding that names what it wants; words has them too.
	want []string
	have string
	// other says that the value is of another alternative: its call or component is a
	// different one.
	other bool
	// closed says that the schema does not list a member, which is often a consequence of
	// another reason.
	closed bool
}

// explain returns the reason that helps most: of alternatives, the one that the value is
// closest to.
func explain(err *jsonschema.ValidationError) finding {
	switch k := err.ErrorKind.(type) {
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return finding{at: err.InstanceLocation, words: "fits several alternatives; want exactly one"}
		}
		return closest(err)
	case *kind.AnyOf:
		return closest(err)
	}
	if len(err.Causes) == 0 {
		return leaf(err)
	}
	best := explain(err.Causes[0])
	for _, cause := range err.Causes[1:] {
		if f := explain(cause); f.other && !best.other || f.other == best.other && deeper(f, best) {
			best = f // a wrong alternative makes all else wrong
		}
	}
	return best
}

// deeper reports whether a finding tells more than another.
func deeper(f, than finding) bool {
	if f.closed != than.closed {
		return than.closed
	}
	return len(f.at) > len(than.at)
}

// closest returns the finding of the alternative that a value is closest to.
func closest(err *jsonschema.ValidationError) finding {
	var fits, other []finding // alternatives that the value means, and others
	for _, cause := range err.Causes {
		if f := explain(cause); f.other {
			other = append(other, f)
		} else {
			fits = append(fits, f)
		}
	}
	best := func(all []finding) (f finding) {
		for n := range all {
			if n == 0 || deeper(all[n], f) {
				f = all[n]
			}
		}
		return f
	}
	switch near, far := best(fits), best(other); {
	case len(err.Causes) == 0:
		return finding{at: err.InstanceLocation, words: "does not fit"}
	case len(fits) == 0, len(other) < len(fits) && len(far.at) > len(near.at):
		return merge(other, far)
	default:
		return merge(fits, near)
	}
}

// merge adds to a finding what others at its place want.
func merge(all []finding, f finding) finding {
	if f.have == "" {
		return f
	}
	f.want = nil
	for _, o := range all {
		if o.have == f.have && len(o.at) == len(f.at) {
			f.want = append(f.want, o.want...)
		}
	}
	slices.Sort(f.want)
	f.want = slices.Compact(f.want)
	f.words = "want " + strings.Join(f.want, " or ") + ", have " + f.have
	return f
}

// leaf words one error.
func leaf(err *jsonschema.ValidationError) finding {
	f := finding{at: err.InstanceLocation}
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		f.want, f.have = articles(k.Want), articles([]string{k.Got})[0]
		f.words = "want " + strings.Join(f.want, " or ") + ", have " + f.have
	case *kind.Required:
		f.words = "lacks " + quoteAll(k.Missing)
	case *kind.AdditionalProperties:
		f.words, f.closed = "has no member "+quoteAll(k.Properties), true
	case *kind.FalseSchema:
		f.words, f.closed = "is not a member here", true
	case *kind.Const:
		last := ""
		if len(f.at) > 0 {
			last = f.at[len(f.at)-1]
		}
		f.want, f.have = []string{short(k.Want)}, short(k.Got)
		f.words, f.other = "want "+f.want[0]+", have "+f.have, last == "call" || last == "component" || last == "returnType"
	case *kind.Enum:
		var all []string
		for _, v := range k.Want {
			all = append(all, short(v))
		}
		f.words = fmt.Sprintf("want one of %s, have %s", strings.Join(all, ", "), short(k.Got))
	case *kind.Format:
		f.words = fmt.Sprintf("want the format %s, have %s", k.Want, short(k.Got))
	case *kind.Pattern:
		f.words = fmt.Sprintf("want text that matches %s, have %s", k.Want, short(k.Got))
	case *kind.MinItems:
		f.words = fmt.Sprintf("want at least %d elements, have %d", k.Want, k.Got)
	case *kind.MaxItems:
		f.words = fmt.Sprintf("want at most %d elements, have %d", k.Want, k.Got)
	case *kind.MinProperties, *kind.MaxProperties:
		f.words = "want another number of members"
	case *kind.Not:
		f.words, f.other = "has a value that is not allowed here", true
	default:
		f.words = "breaks the rule " + strings.Join(err.ErrorKind.KeywordPath(), "/")
	}
	return f
}

// articles returns names of JSON types as words.
func articles(types []string) (words []string) {
	for _, t := range types {
		switch t {
		case "array", "object", "integer":
			words = append(words, "an "+t)
		case "null":
			words = append(words, t)
		default:
			words = append(words, "a "+t)
		}
	}
	return words
}

// maxQuoted limits quoted values in messages, in bytes.
const maxQuoted = 80

// short returns a value as JSON, cut.
func short(v any) string { return cut(string(encode(v))) }

func cut(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	n := maxQuoted
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func quote(s string) string { return cut(strconv.Quote(s)) }

func quoteAll(list []string) string {
	list = slices.Sorted(slices.Values(list))
	for n, s := range list {
		list[n] = quote(s)
	}
	return strings.Join(list, ", ")
}

func itoa(n int) string { return strconv.Itoa(n) }
