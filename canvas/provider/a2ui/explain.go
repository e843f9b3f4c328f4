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
		return closest(err, false)
	case *kind.AnyOf:
		return closest(err, false)
	}
	if len(err.Causes) > 0 {
		return closest(err, true)
	}
	return leaf(err)
}

// closest returns the best of an error's causes. All says that each of them must go, so
// that the first is as good as any other; otherwise they are alternatives.
func closest(err *jsonschema.ValidationError, all bool) finding {
	if len(err.Causes) == 0 {
		return finding{at: err.InstanceLocation, words: "does not fit"}
	}
	var best finding
	var types []string
	same := true
	for n, cause := range err.Causes {
		f := explain(cause)
		if n == 0 || better(f, best, all) {
			best = f
		}
		want, ok := strings.CutPrefix(f.words, "want ")
		same = same && ok && slices.Equal(f.at, err.InstanceLocation)
		types = append(types, want)
	}
	if !all && same {
		slices.Sort(types)
		best.words = "want " + strings.Join(slices.Compact(types), " or ")
	}
	return best
}

// better reports whether a finding tells more than another.
func better(f, than finding, all bool) bool {
	switch {
	case all && f.other != than.other:
		return f.other // a wrong alternative makes all else wrong
	case f.other != than.other:
		return than.other
	case f.closed != than.closed:
		return than.closed
	}
	return len(f.at) > len(than.at)
}

// leaf words one error.
func leaf(err *jsonschema.ValidationError) finding {
	f := finding{at: err.InstanceLocation}
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		f.words = "want " + strings.Join(articles(k.Want), " or ") + ", have " + articles([]string{k.Got})[0]
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
		f.words, f.other = fmt.Sprintf("want %s, have %s", short(k.Want), short(k.Got)), last == "call" || last == "component" || last == "returnType"
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
