package ahp

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// Value is one encoded JSON value. It is the type of opaque members (payloads,
// inputs, schemas) and of the Extra field that keeps unknown members. Numbers
// keep their digits and members their order.
type Value = jsontext.Value

// Null is the JSON null.
var Null = Value("null")

// Marshal encodes v as compact JSON. Members have the order of the struct fields,
// and maps are sorted, so equal values have equal encodings.
func Marshal(v any) (Value, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

// MustMarshal is Marshal for types of this module, which always encode. It panics
// on any other error. Their strings can quote untrusted input, so invalid UTF-8 is
// replaced (U+FFFD): a missing check must not end the process.
func MustMarshal(v any) Value {
	b, err := Marshal(v)
	if err != nil {
		b, err = json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	}
	if err != nil {
		panic(err)
	}
	return b
}

// AppendString appends s as MustMarshal encodes it.
func AppendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error reports that invalid UTF-8 was replaced
	return b
}

// Unmarshal decodes one JSON value into v, strictly: names are case-sensitive,
// duplicate members and invalid UTF-8 are errors, and required members must be
// present at every depth. The error names the place, as a JSON Pointer, and the
// rule.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return describe(err)
	}
	return checkRequired(data, reflect.TypeOf(v).Elem())
}

// Measure returns how deeply a valid value is nested and how many values it
// holds, itself included. Member names do not count.
func Measure(v Value) (depth, values int) { return scan.Measure(v) }

// Equal reports whether two JSON texts have the same value. The order of members,
// white space and escapes do not count. Numbers must be written alike, because a
// reader might tell 1 from 1.0.
func Equal(a, b Value) bool {
	ca, errA := canonical(a)
	cb, errB := canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// canonical sorts members and removes white space. It keeps numbers as written,
// because 9007199254740993 and 9007199254740992 are the same float64.
func canonical(v Value) (Value, error) {
	if len(v) == 0 {
		return nil, nil
	}
	c := v.Clone()
	err := c.Format(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false),
		jsontext.ReorderRawObjects(true), jsontext.Multiline(false), jsontext.PreserveRawStrings(false),
		jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false))
	return c, err
}

// describe turns the library's errors into one sentence with a place.
func describe(err error) error {
	if se, ok := errors.AsType[*json.SemanticError](err); ok {
		place := string(se.JSONPointer)
		if place == "" {
			place = "/"
		}
		want := "a different type"
		if se.GoType != nil {
			want = jsonName(se.GoType)
		}
		switch {
		case se.Err != nil && se.JSONKind == 0:
			return fmt.Errorf("%s: %w", place, se.Err)
		default:
			return fmt.Errorf("%s: want %s, have %s", place, want, kindName(se.JSONKind, want))
		}
	}
	if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("invalid JSON at byte %d: %s", se.ByteOffset, strings.TrimPrefix(errText(se.Err), "jsontext: "))
	}
	return err
}

func errText(err error) string {
	if err == nil {
		return "syntax error"
	}
	return err.Error()
}

// kindName names a value of kind k in an error that wanted something else. want
// is only needed for numbers.
func kindName(k jsontext.Kind, want string) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		if want == "a number" || strings.HasSuffix(want, "integer") {
			return "a number of another form"
		}
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "something else"
}

// jsonName names the JSON type that a Go type is encoded as.
func jsonName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "an integer"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a non-negative integer"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}
