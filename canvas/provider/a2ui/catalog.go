package a2ui

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

//go:embed schemas/*.json
var files embed.FS

// CatalogFiles are the schemas of a catalog, as JSON. Catalog is required; the others are
// those of A2UI v0.9 if nil.
type CatalogFiles struct {
	Catalog        []byte // a catalog: catalogId, components, functions, $defs
	CommonTypes    []byte // common_types.json
	ServerToClient []byte // server_to_client.json
}

// Catalog is a compiled catalog. It never changes.
type Catalog struct {
	id, name   string
	ids        []string // id and other spellings
	doc        map[string]any
	common     map[string]any
	messages   map[string]schema // by update key
	components map[string]*component
	functions  map[string]schema
}

// component is what the store knows of a component.
type component struct {
	schema schema
	refs   []refRule
}

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

// The URLs under which a catalog's files refer to each other.
const (
	schemaBase  = "https://a2ui.org/specification/v0_9/"
	catalogURL  = schemaBase + "catalog.json"
	commonURL   = schemaBase + "common_types.json"
	messagesURL = schemaBase + "server_to_client.json"
)

// updateKeys are the members that say what a message does, with the definitions of their
// schemas.
var updateKeys = map[string]string{
	"createSurface":    "CreateSurfaceMessage",
	"updateComponents": "UpdateComponentsMessage",
	"updateDataModel":  "UpdateDataModelMessage",
	"deleteSurface":    "DeleteSurfaceMessage",
}

var basic = sync.OnceValue(func() *Catalog {
	raw, err := files.ReadFile("schemas/catalog.json")
	if err != nil {
		panic(err)
	}
	c, err := Compile(CatalogFiles{Catalog: raw})
	if err != nil {
		panic(err)
	}
	c.ids, c.name = BasicCatalogIDs(), "the basic catalog"
	return c
})

// Basic returns the basic catalog of A2UI v0.9.
func Basic() *Catalog { return basic() }

// ID returns the catalog's id.
func (c *Catalog) ID() string { return c.id }

// Components returns the names of the catalog's components, sorted.
func (c *Catalog) Components() []string { return sortedKeys(object(c.doc, "components")) }

// Functions returns the names of the catalog's functions, sorted.
func (c *Catalog) Functions() []string { return sortedKeys(object(c.doc, "functions")) }

// has reports whether the catalog has an id.
func (c *Catalog) has(id string) bool { return slices.Contains(c.ids, id) }

// Compile compiles a catalog. The basic catalog is [Basic].
func Compile(f CatalogFiles) (*Catalog, error) {
	doc, err := document(f.Catalog, "schemas/catalog.json")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	common, err := document(f.CommonTypes, "schemas/common_types.json")
	if err != nil {
		return nil, fmt.Errorf("common types: %w", err)
	}
	messages, err := document(f.ServerToClient, "schemas/server_to_client.json")
	if err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	c := &Catalog{id: str(doc, "catalogId"), doc: doc, common: common, messages: map[string]schema{}, components: map[string]*component{}, functions: map[string]schema{}}
	if c.id == "" {
		return nil, errors.New("catalog: catalogId is required")
	}
	c.ids, c.name = []string{c.id}, "the catalog "+quote(c.id)
	return c, c.compile(messages)
}

// document decodes a schema: the given one, or else an embedded one.
func document(given []byte, embedded string) (map[string]any, error) {
	if given == nil {
		var err error
		if given, err = files.ReadFile(embedded); err != nil {
			return nil, err
		}
	}
	if !ahp.Value(given).IsValid() {
		return nil, errors.New("want valid JSON without duplicate members")
	}
	tree, err := decode(given)
	if err != nil {
		return nil, err
	}
	doc, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("want an object")
	}
	return doc, nil
}

// compile compiles the schemas of the messages and components.
func (c *Catalog) compile(messages map[string]any) error {
	compiler := newCompiler()
	defs := object(c.doc, "$defs")
	if defs == nil {
		defs = map[string]any{}
	}
	for _, name := range []string{"theme", "anyComponent", "anyFunction"} {
		if defs[name] == nil {
			defs[name] = map[string]any{}
		}
	}
	c.doc["$defs"] = defs
	// Components are validated one at a time, by name, so that an error has a place.
	if list := object(messages, "$defs", "UpdateComponentsMessage", "properties", "updateComponents", "properties", "components"); list != nil {
		list["items"] = map[string]any{"type": "object"}
	}
	documents := map[string]map[string]any{catalogURL: c.doc, commonURL: shallowCalls(c.common), messagesURL: messages}
	for url, doc := range documents {
		doc["$id"] = url
		if err := compiler.AddResource(url, doc); err != nil {
			return err
		}
	}
	quick := &quickSchemas{documents: documents, made: map[string]*quickSchema{}}
	at := func(what, ref string) (schema, error) {
		full, err := compiler.Compile(ref)
		if err != nil {
			return schema{}, fmt.Errorf("%s: %w", what, err)
		}
		return schema{quick.at(ref), full}, nil
	}
	var err error
	for key, def := range updateKeys {
		if c.messages[key], err = at(key, messagesURL+"#/$defs/"+def); err != nil {
			return err
		}
	}
	for name := range object(c.doc, "components") {
		schema, err := at("component "+name, catalogURL+"#"+pointer("components", name))
		if err != nil {
			return err
		}
		c.components[name] = &component{schema, c.refsOf(object(c.doc, "components", name))}
	}
	for name := range object(c.doc, "functions") {
		if c.functions[name], err = at("function "+name, catalogURL+"#"+pointer("functions", name)); err != nil {
			return err
		}
	}
	quick.finish()
	return nil
}

// shallowCalls returns common types in which a function call says nothing about the
// function and its arguments. validateCalls checks each call once: a validator that
// follows calls in calls through all alternatives takes exponential time.
func shallowCalls(common map[string]any) map[string]any {
	doc, _ := clone(common).(map[string]any)
	if call := object(doc, "$defs", "FunctionCall"); call != nil {
		delete(call, "oneOf")
		if args := object(call, "properties", "args"); args != nil {
			delete(args, "additionalProperties")
		}
	}
	return doc
}

// newCompiler returns a compiler that loads nothing.
func newCompiler() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(noLoader{})
	return compiler
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("the schema refers to another document: " + quote(url))
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
