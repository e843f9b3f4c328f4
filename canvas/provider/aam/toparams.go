package aam

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// keys returns the names of an object's members in their order.
func keys(v ahp.Value) ([]string, error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var names []string
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		names = append(names, t.String())
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// encode writes members as an object, in their order.
func encode(list []member) ahp.Value {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(ahp.AppendString(out, m.name), ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// flat has the keywords of JSON Schema that a parameter can say, by their names there; ""
// if the name is the same.
var flat = map[string]string{
	"type": "", "format": "", "description": "", "title": "", "enum": "", "default": "", "examples": "",
	"minimum": "min", "maximum": "max", "minLength": "min", "maxLength": "max",
}

// Params returns the parameters that a JSON Schema of an object means, and whether they say
// all of it. A property that they cannot express is left out; publish the schema too then.
func Params(schema ahp.Value) (params ahp.Value, whole bool) {
	var s struct {
		Type       ahp.Value `json:"type,omitzero"`
		Properties ahp.Value `json:"properties,omitzero"`
		Required   []string  `json:"required,omitzero"`
		More       ahp.Value `json:"additionalProperties,omitzero"`
		Text       string    `json:"description,omitzero"`
		Title      string    `json:"title,omitzero"`
		Rest       ahp.Value `json:",embed"`
	}
	empty := ahp.Value("{}")
	if schema.Kind() != '{' || ahp.Unmarshal(schema, &s) != nil {
		return empty, false
	}
	rest, _ := keysOf(s.Rest)
	whole = string(s.Type) == `"object"` && string(s.More) == "false" && len(rest) == 0
	if s.Properties == nil {
		return empty, whole
	}
	list, err := object(s.Properties)
	if err != nil {
		return empty, false
	}
	var out []member
	for _, m := range list {
		p, ok := toParam(m.value, slices.Contains(s.Required, m.name))
		if !ok || len(out) == maxParams {
			whole = false
			continue
		}
		out = append(out, member{m.name, p})
	}
	return encode(out), whole
}

func keysOf(v ahp.Value) ([]string, error) {
	if len(v) == 0 {
		return nil, nil
	}
	return keys(v)
}

// toParam returns a property's schema as a parameter, if one can say it.
func toParam(schema ahp.Value, required bool) (ahp.Value, bool) {
	list, err := object(schema)
	if err != nil {
		return nil, false
	}
	var kind, pattern, format string
	var out []member
	for _, m := range list {
		if m.name == "pattern" {
			err = ahp.Unmarshal(m.value, &pattern)
			continue
		}
		name, known := flat[m.name]
		if name == "" {
			name = m.name
		}
		switch {
		case m.name == "type":
			err = ahp.Unmarshal(m.value, &kind)
		case m.name == "format":
			err = ahp.Unmarshal(m.value, &format)
		}
		if !known || err != nil {
			return nil, false
		}
		out = append(out, member{name, m.value})
	}
	switch {
	case !slices.Contains([]string{"string", "integer", "number", "boolean"}, kind):
		return nil, false
	case pattern == timePattern && format == "":
		out = append(out, member{"format", ahp.Value(`"` + timeFormat + `"`)})
	case pattern != "" && (pattern != datePattern || format != "date"):
		return nil, false
	}
	if !required {
		out = append(out, member{"required", ahp.Value("false")})
	}
	return encode(out), true
}
