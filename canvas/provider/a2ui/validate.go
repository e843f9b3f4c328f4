package a2ui

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema checks values: quickly if that is enough.
type schema struct {
	quick *quickSchema
	full  *jsonschema.Schema
}

// fits reports whether a value fits without asking the schema library; false also if that
// is not sure.
func (s schema) fits(v any) bool { return s.quick.check(v, maxQuick) == fits }

// validate returns what is wrong with a value, nil if nothing.
func (s schema) validate(v any) *finding {
	if s.fits(v) {
		return nil
	}
	return findingOf(s.full.Validate(v))
}

// validate returns what is wrong with a message's form, nil if nothing.
func (c *Catalog) validate(key string, message map[string]any) *finding {
	version := message["version"]
	message["version"] = V09 // the schemas of all accepted versions are the same
	f := c.messages[key].validate(message)
	message["version"] = version
	if f != nil {
		return f
	}
	if key != "updateComponents" {
		return nil
	}
	list, _ := object(message, key)["components"].([]any)
	for n, e := range list {
		if f := c.validateComponent(e); f != nil {
			f.at = slices.Insert(f.at, 0, key, "components", itoa(n))
			if id := str(object(e), "id"); id != "" {
				f.words = "component " + quote(id) + ": " + f.words
			}
			return f
		}
	}
	return nil
}

// validateComponent returns what is wrong with one component.
func (c *Catalog) validateComponent(e any) *finding {
	m := object(e)
	name, ok := m["component"].(string)
	if !ok {
		return &finding{at: []string{"component"}, words: `want "component" with the name of a component`}
	}
	known := c.components[name]
	if known == nil {
		return &finding{at: []string{"component"}, words: c.name + " has no " + cut(name) + "; it has: " + strings.Join(c.Components(), ", ")}
	}
	if f := known.schema.validate(e); f != nil {
		return f
	}
	if c.callsFit(e) {
		return nil
	}
	return c.validateCalls(e)
}

// callsFit reports whether every function call in a value surely fits its function.
func (c *Catalog) callsFit(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["call"].(string); ok && len(c.functions) > 0 {
			if function, known := c.functions[name]; !known || !function.fits(v) {
				return false
			}
		}
		for _, e := range v {
			if !c.callsFit(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !c.callsFit(e) {
				return false
			}
		}
	}
	return true
}

// validateCalls checks every function call in a value against its function.
func (c *Catalog) validateCalls(v any) *finding {
	switch v := v.(type) {
	case map[string]any:
		if f := c.validateCall(v); f != nil {
			return f
		}
		for _, key := range sortedKeys(v) {
			if f := c.validateCalls(v[key]); f != nil {
				f.at = slices.Insert(f.at, 0, key)
				return f
			}
		}
	case []any:
		for n, e := range v {
			if f := c.validateCalls(e); f != nil {
				f.at = slices.Insert(f.at, 0, itoa(n))
				return f
			}
		}
	}
	return nil
}

// validateCall checks an object if it is a function call.
func (c *Catalog) validateCall(v map[string]any) *finding {
	name, ok := v["call"].(string)
	if !ok || len(c.functions) == 0 {
		return nil
	}
	function, known := c.functions[name]
	if !known {
		return &finding{at: []string{"call"}, words: c.name + " has no function " + quote(name) + "; it has: " + strings.Join(c.Functions(), ", ")}
	}
	return function.validate(v)
}

func findingOf(err error) *finding {
	if err == nil {
		return nil
	}
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return &finding{words: "cannot be checked"}
	}
	f := explain(v)
	f.at = slices.Clone(f.at)
	return &f
}
