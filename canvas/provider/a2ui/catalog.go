package a2ui

import (
	"embed"
	"errors"
	"fmt"
	"slices"
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
