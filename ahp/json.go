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

// Value is one JSON value as it stands on the wire. It is the type of every
// opaque member (payloads, inputs, schemas) and of the Extra field that keeps
// unknown members: numbers keep their digits, members their order.
type Value = jsontext.Value

// Null is the JSON null.
var Null = Value("null")

// Marshal encodes v as compact JSON. Member order is the order of the struct
// fields; maps are sorted, so that equal values encode to equal bytes.
func Marshal(v any) (Value, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

// MustMarshal is Marshal for values of this module's own types, which cannot
// fail to encode; it panics where one does. Their texts may quote a stranger:
// bytes that are no UTF-8 are replaced (U+FFFD), for a place that forgot to check
// them costs a letter, and not the process of everybody.
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

// AppendString appends a string as MustMarshal encodes it.
func AppendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error says that it replaced what is no UTF-8
	return b
}

// Unmarshal decodes one JSON value strictly into v: case-sensitive names, no
// duplicate members, valid UTF-8, every required member present at every depth.
// The error names the place (a JSON Pointer) and the rule.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return describe(err)
	}
	return checkRequired(data, reflect.TypeOf(v).Elem())
}

// Measure returns how deeply a valid value is nested and how many values it
// holds, itself included. Member names do not count.
func Measure(v Value) (depth, values int) { return scan.Measure(v) }

// Equal reports whether two JSON texts hold the same value: order of members,
// white space and how a string is escaped do not count. Numbers are compared as they
// are written: 1 and 1.0 may be two things to who reads them.
func Equal(a, b Value) bool {
	ca, errA := canonical(a)
	cb, errB := canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// canonical sorts members and strips white space but leaves numbers as they
// are written: 9007199254740993 and 9007199254740992 are two numbers.
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

// describe turns the library's errors into one plain sentence with a place.
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

// kindName says what there is, where want was wanted.
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

// jsonName says what JSON a Go type is written as, for people who do not read Go.
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
