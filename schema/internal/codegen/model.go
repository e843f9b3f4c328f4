package codegen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"
)

// kind is what a value is, as far as types of a language say it.
type kind uint8

const (
	opaque  kind = iota // any value
	text                // a string
	integer             // digits, of 64 bits
	boolean
	null
	object // an object with any members
	array  // of typ.elem
	ref    // the definition typ.name
	enum   // the enumeration typ.name
	id     // a string or a number
)

// typ is the type of a value.
type typ struct {
	kind kind
	name string
	elem *typ
}

// field is a member of an object.
type field struct {
	name, doc string
	typ       typ
	tag       any // the only value that the member has; nil if it has several
	required  bool
	nullable  bool // null differs from absent
}

// definition is an object, a union of definitions, or another name of a type.
type definition struct {
	name, doc string
	fields    []field
	union     string // the member that tells the variants apart; "" if there are none
	variants  []variant
	alias     *typ
}

// variant is a member of a union, with its tag.
type variant struct {
	name string
	tag  any
}

// enumeration is a list of strings, to which later versions add.
type enumeration struct {
	name   string
	values []string
}

// model is what all languages have in common.
type model struct {
	defs  []definition
	enums []enumeration
}

type node = jsonschema.Schema

// read makes a model of definitions, sorted by name.
func read(defs map[string]*node) (*model, error) {
	m := &model{}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		d, err := m.definition(name, defs[name], defs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.defs = append(m.defs, d)
	}
	return m, nil
}

func (m *model) definition(name string, s *node, defs map[string]*node) (definition, error) {
	d := definition{name: name, doc: s.Description}
	switch {
	case s.OneOf != nil:
		return d, d.readVariants(s, defs)
	case s.Properties != nil:
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			f, err := m.field(name, p.Key, p.Value)
			if err != nil {
				return d, fmt.Errorf("%s: %w", p.Key, err)
			}
			f.required = slices.Contains(s.Required, p.Key)
			d.fields = append(d.fields, f)
		}
		return d, nil
	}
	t, _, err := m.typ(name, s)
	d.alias = &t
	return d, err
}

// readVariants finds the tag of a union: the required member that has another single value
// in each definition.
func (d *definition) readVariants(s *node, defs map[string]*node) error {
	for _, r := range s.OneOf {
		d.variants = append(d.variants, variant{name: refName(r.Ref)})
	}
	first := defs[d.variants[0].name]
	for _, member := range first.Required {
		seen := map[any]bool{}
		for i, v := range d.variants {
			p, ok := defs[v.name].Properties.Get(member)
			if !ok || p.Const == nil {
				break
			}
			d.variants[i].tag = p.Const
			seen[fmt.Sprint(p.Const)] = true
		}
		if len(seen) == len(d.variants) {
			d.union = member
			return nil
		}
	}
	return fmt.Errorf("no member tells its variants apart")
}

func (m *model) field(def, name string, s *node) (field, error) {
	f := field{name: name, doc: s.Description, tag: s.Const}
	var err error
	f.typ, f.nullable, err = m.typ(def+pascal(name), s)
	return f, err
}

// typ returns a schema's type, and whether it is that type or null. place names an
// enumeration whose members another one of the same name does not have.
func (m *model) typ(place string, s *node) (t typ, nullable bool, err error) {
	switch {
	case s.Ref != "":
		return typ{kind: ref, name: refName(s.Ref)}, false, nil
	case len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null":
		t, _, err = m.typ(place, s.AnyOf[0])
		return t, true, err
	case len(s.AnyOf) == 2 && s.AnyOf[0].Type == "string" && s.AnyOf[1].Type == "number":
		return typ{kind: id}, false, nil
	case len(s.Enum) > 0:
		return typ{kind: enum, name: m.enum(place, s.Enum)}, false, nil
	case s.Type == "array":
		elem := typ{}
		if s.PrefixItems == nil && s.Items != nil {
			elem, _, err = m.typ(place, s.Items)
		}
		if s.Items != nil && s.Items.PrefixItems != nil { // tuples of strings
			elem = typ{kind: array, elem: &typ{kind: text}}
		}
		return typ{kind: array, elem: &elem}, false, err
	}
	kinds := map[string]kind{"": opaque, "string": text, "integer": integer, "boolean": boolean, "null": null, "object": object}
	k, ok := kinds[s.Type]
	if !ok || s.OneOf != nil || s.AnyOf != nil {
		return t, false, fmt.Errorf("a schema of type %q that no language has yet", s.Type)
	}
	return typ{kind: k}, k == opaque, nil
}

// enum returns the name of an enumeration: the last word of its place, or the whole place
// if another enumeration has that name.
func (m *model) enum(place string, list []any) string {
	var values []string
	for _, v := range list {
		values = append(values, fmt.Sprint(v))
	}
	short := place[strings.LastIndexFunc(place, unicode.IsUpper):]
	for _, name := range []string{short, place} {
		i := slices.IndexFunc(m.enums, func(e enumeration) bool { return e.name == name })
		if i < 0 {
			m.enums = append(m.enums, enumeration{name, values})
			return name
		}
		if slices.Equal(m.enums[i].values, values) {
			return name
		}
	}
	panic("codegen: two enumerations of " + place)
}

func refName(r string) string { return r[strings.LastIndexByte(r, '/')+1:] }
