package schema

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// node is a JSON Schema or a part of one.
type node = jsonschema.Schema

// generator collects definitions. Their names are unique across files; a
// definition belongs to the file that was current when it was made.
type generator struct {
	src   *source
	defs  map[string]*node
	home  map[string]string
	names map[reflect.Type]string // definitions whose name is not the type's
	file  string
	used  map[string]bool // rules and unions that matched

	dispatched map[string]string // by kind: the name of the definition of what a client may dispatch
}

func newGenerator(src *source) *generator {
	g := &generator{
		src: src, defs: map[string]*node{}, home: map[string]string{}, used: map[string]bool{}, dispatched: map[string]string{},
		names: map[reflect.Type]string{reflect.TypeFor[ahp.Error](): "JsonRpcError"}, // its name in the protocol
	}
	for _, k := range kinds {
		g.names[k.State] = k.title + "State"
		for _, row := range k.Actions.Rows() {
			g.names[row.GoType] = actionName(row.Type)
		}
	}
	return g
}

// define adds a definition. It panics if the name is taken, which is an error
// in the tables.
func (g *generator) define(name string, s *node) {
	if g.defs[name] != nil {
		panic("schema: two definitions of " + name)
	}
	g.defs[name], g.home[name] = s, g.file
}

func ref(name string) *node { return &node{Ref: "#/$defs/" + name} }

// reflect defines a Go type and the types that it contains, and returns its
// name.
func (g *generator) reflect(t reflect.Type) string {
	r := &jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: true,
		Namer: g.name, Mapper: g.scalar, LookupComment: g.comment,
	}
	for name, s := range r.ReflectFromType(t).Definitions {
		if g.defs[name] == nil {
			g.define(name, s)
			g.finish(name, s)
		}
	}
	return g.name(t)
}

func (g *generator) name(t reflect.Type) string {
	if name, ok := g.names[t]; ok {
		return name
	}
	return t.Name()
}

// comment returns the doc comment of a type or member. If the comment begins
// with the Go name, comment replaces it by the name on the wire.
func (g *generator) comment(t reflect.Type, field string) string {
	text, old, name := g.src.doc(t, field), t.Name(), g.name(t)
	if field != "" {
		f, _ := t.FieldByName(field)
		old = field
		name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	}
	if rest, ok := strings.CutPrefix(text, old+" "); ok {
		return name + " " + rest
	}
	return text
}

// scalar returns the schema of types whose Go kind does not determine their
// JSON.
func (g *generator) scalar(t reflect.Type) *node {
	switch {
	case t == reflect.TypeFor[ahp.Value]():
		return &node{}
	case t == reflect.TypeFor[session.Customization]():
		return &node{Type: "object", Description: g.src.doc(t, "")}
	case t == reflect.TypeFor[session.Status]():
		return &node{Type: "integer", Minimum: "0", Maximum: "4294967295", Description: g.src.doc(t, "")}
	case t.PkgPath()+"."+strings.Split(t.Name(), "[")[0] == module+"ahp.Field":
		return g.field(t)
	case t.Kind() == reflect.String && t.PkgPath() != "":
		if values := g.src.values(t); values != nil {
			return &node{Type: "string", Enum: values}
		}
	}
	return nil
}

// field returns the schema of an ahp.Field, which allows null.
func (g *generator) field(t reflect.Type) *node {
	f, _ := t.FieldByName("Value")
	elem := f.Type.Elem()
	s := g.scalar(elem)
	switch {
	case s != nil:
	case elem.Kind() == reflect.String:
		s = &node{Type: "string"}
	default:
		panic(fmt.Sprintf("schema: ahp.Field[%s] is not supported", elem))
	}
	if s.Type == "" {
		return s // opaque: includes null
	}
	return &node{AnyOf: []*node{s, {Type: "null"}}}
}

// finish corrects what the library cannot know: it removes Extra, which is not
// a member, and applies the rules of rules.go.
func (g *generator) finish(name string, s *node) {
	if s.Properties != nil {
		s.Properties.Delete("Extra")
		s.Required = without(s.Required, "Extra")
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			g.apply(name+"."+p.Key, p.Value)
		}
	}
	g.apply(name, s)
	g.split(name, s)
}

func (g *generator) apply(place string, s *node) {
	if rule := rules[place]; rule != nil {
		rule(s)
		g.used[place] = true
	}
}

func without(list []string, name string) []string {
	var out []string
	for _, s := range list {
		if s != name {
			out = append(out, s)
		}
	}
	return out
}
