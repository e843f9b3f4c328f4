package canvas

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// rawSchemas are the schemas of types whose JSON form differs from their Go form.
var rawSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[ahp.Value](): {},
	reflect.TypeFor[[]byte]():    {Type: "string", ContentEncoding: "base64"},
}

// schemaOf returns the JSON Schema of the inputs that decode into In, nil if that is
// every object. It panics, naming its caller, if In has no schema: the program could
// never work.
func schemaOf[In any](caller string) ahp.Value {
	t := reflect.TypeFor[In]()
	if t == reflect.TypeFor[ahp.Value]() || t == reflect.TypeFor[any]() {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		panic(fmt.Sprintf("%s: input type %v is not a struct or a map; an input is a JSON object", caller, t))
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: rawSchemas})
	if err != nil {
		panic(fmt.Sprintf("%s: input type %v has no JSON Schema: %v", caller, t, err))
	}
	raw, err := ahp.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("%s: input type %v has no JSON Schema: %v", caller, t, err))
	}
	return raw
}

// decodeInput decodes strictly; an absent input is an empty object. The host has
// checked the input against the schema, so an error is rare: it comes from a rule
// that only the Go type has.
func decodeInput[In any](input ahp.Value) (in In, err error) {
	if raw, ok := any(&in).(*ahp.Value); ok {
		*raw = input
		return in, nil
	}
	if input == nil {
		input = ahp.Value("{}")
	}
	if err := ahp.Unmarshal(input, &in); err != nil {
		return in, inputInvalid(err)
	}
	return in, nil
}

// inputInvalid returns the error of an input that cannot be decoded. Errors of
// [ahp.Unmarshal] begin with a JSON Pointer where one is known.
func inputInvalid(err error) *Error {
	path, rule, found := strings.Cut(err.Error(), ": ")
	if !found || !strings.HasPrefix(path, "/") {
		path, rule = "", err.Error()
	}
	path = "/input" + strings.TrimSuffix(path, "/")
	e := Errorf(CodeInputInvalid, "the input does not fit at %s: %s", path, rule)
	e.Path, e.Rule = path, "type"
	if rule == "required" {
		e.Rule = rule
	}
	return e
}

// encodeOutput encodes what an action returned; nil is no value.
func encodeOutput(out any) (ahp.Value, error) {
	switch v := out.(type) {
	case nil:
		return nil, nil
	case ahp.Value:
		return v, nil
	}
	return ahp.Marshal(out)
}
