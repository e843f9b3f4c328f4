package a2ui

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// quickSchemas makes quick schemas of documents, which refer to each other by URL.
type quickSchemas struct {
	documents map[string]map[string]any
	made      map[string]*quickSchema // by reference
	closed    []*quickSchema          // whose evaluated properties are to be found
}

// at returns the schema at a reference.
func (b *quickSchemas) at(ref string) *quickSchema {
	if q := b.made[ref]; q != nil {
		return q
	}
	q := &quickSchema{}
	b.made[ref] = q // before it is made: schemas can refer to themselves
	base, fragment, _ := strings.Cut(ref, "#")
	var tree any
	if doc := b.documents[base]; doc != nil {
		tree = doc
	}
	for _, s := range strings.Split(fragment, "/")[1:] {
		name, err := url.PathUnescape(s)
		m, _ := tree.(map[string]any)
		if tree = m[strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")]; err != nil {
			tree = nil
		}
	}
	b.make(q, tree, base, fragment == "")
	return q
}

// sub makes a schema that is part of another.
func (b *quickSchemas) sub(tree any, base string) *quickSchema {
	q := &quickSchema{}
	b.make(q, tree, base, false)
	return q
}

func (b *quickSchemas) subs(tree any, base string) (all []*quickSchema) {
	list, ok := tree.([]any)
	if !ok {
		return []*quickSchema{{unsure: true}}
	}
	for _, e := range list {
		all = append(all, b.sub(e, base))
	}
	return all
}

// A keyword sets what a keyword of a schema says. It reports whether the keyword's value is
// one that quick checks know.
type keyword func(b *quickSchemas, q *quickSchema, v any, base string) bool

// keywords are those that quick checks know.
var keywords map[string]keyword

// init is needed because the values of some keywords are schemas, which have keywords.
func init() {
	keywords = map[string]keyword{
		"title": ignored, "description": ignored, "default": ignored, "discriminator": ignored, "$defs": ignored, "$comment": ignored,
		"type": setTypes, "const": setConstant, "enum": setEnum, "pattern": setPattern, "minimum": setMinimum,
		"required": func(_ *quickSchemas, q *quickSchema, v any, _ string) bool {
			return eachName(v, func(s string) { q.required = append(q.required, s) })
		},
		"minItems":      func(_ *quickSchemas, q *quickSchema, v any, _ string) bool { return whole(v, &q.minItems) },
		"minProperties": func(_ *quickSchemas, q *quickSchema, v any, _ string) bool { return whole(v, &q.minProps) },
		"maxProperties": func(_ *quickSchemas, q *quickSchema, v any, _ string) bool { return whole(v, &q.maxProps) },
		"properties":    setProperties, "unevaluatedProperties": setClosed, "$ref": addReference,
		"allOf": func(b *quickSchemas, q *quickSchema, v any, base string) bool {
			q.all = append(q.all, b.subs(v, base)...)
			return true
		},
		"anyOf":                func(b *quickSchemas, q *quickSchema, v any, base string) bool { q.any = b.subs(v, base); return true },
		"oneOf":                func(b *quickSchemas, q *quickSchema, v any, base string) bool { q.one = b.subs(v, base); return true },
		"additionalProperties": part(func(q *quickSchema) **quickSchema { return &q.others }),
		"items":                part(func(q *quickSchema) **quickSchema { return &q.items }),
		"not":                  part(func(q *quickSchema) **quickSchema { return &q.not }),
		"if":                   part(func(q *quickSchema) **quickSchema { return &q.cond }),
		"then":                 part(func(q *quickSchema) **quickSchema { return &q.then }),
		"else":                 part(func(q *quickSchema) **quickSchema { return &q.orElse }),
	}
}

// part is a keyword whose value is a schema.
func part(of func(*quickSchema) **quickSchema) keyword {
	return func(b *quickSchemas, q *quickSchema, v any, base string) bool {
		*of(q) = b.sub(v, base)
		return true
	}
}

func setTypes(_ *quickSchemas, q *quickSchema, v any, _ string) bool {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	return eachName(list, func(s string) { q.types |= typeNames[s] }) && q.types != 0
}

func setConstant(_ *quickSchemas, q *quickSchema, v any, _ string) bool {
	q.constant = v
	_, text := v.(string)
	_, truth := v.(bool)
	return text || truth
}

func setEnum(_ *quickSchemas, q *quickSchema, v any, _ string) bool {
	q.enum = map[string]bool{}
	return eachName(v, func(s string) { q.enum[s] = true })
}

func setPattern(_ *quickSchemas, q *quickSchema, v any, _ string) bool {
	s, ok := v.(string)
	var err error
	q.pattern, err = regexp.Compile(s)
	return ok && err == nil
}

func setMinimum(_ *quickSchemas, q *quickSchema, v any, _ string) bool {
	n, ok := v.(json.Number)
	q.minimum = string(n)
	return ok
}

func setProperties(b *quickSchemas, q *quickSchema, v any, base string) bool {
	q.properties = map[string]*quickSchema{}
	m, ok := v.(map[string]any)
	for name, sub := range m {
		q.properties[name] = b.sub(sub, base)
	}
	return ok
}

func setClosed(b *quickSchemas, q *quickSchema, v any, _ string) bool {
	q.closed = true
	b.closed = append(b.closed, q)
	return v == false
}

func addReference(b *quickSchemas, q *quickSchema, v any, base string) bool {
	ref, ok := v.(string)
	from, err1 := url.Parse(base)
	to, err2 := url.Parse(ref)
	if !ok || err1 != nil || err2 != nil {
		return false
	}
	q.all = append(q.all, b.at(from.ResolveReference(to).String()))
	return true
}

func ignored(*quickSchemas, *quickSchema, any, string) bool { return true }

// eachName calls fn for each element of a list of strings, and reports whether it is one.
func eachName(v any, fn func(string)) bool {
	list, ok := v.([]any)
	for _, e := range list {
		s, text := e.(string)
		ok = ok && text
		fn(s)
	}
	return ok
}

// whole reads a number of elements.
func whole(v any, into *int) bool {
	n, ok := v.(json.Number)
	count, err := n.Int64()
	*into = int(count)
	return ok && err == nil && count >= 0 && count < 1<<30
}

// make makes a schema of a tree. root says that the tree is a document, which has an id.
func (b *quickSchemas) make(q *quickSchema, tree any, base string, root bool) {
	q.maxProps = -1
	switch tree := tree.(type) {
	case bool:
		q.never = !tree
	case map[string]any:
		for key, v := range tree {
			if root && (key == "$id" || key == "$schema") {
				continue
			}
			if set := keywords[key]; set == nil || !set(b, q, v, base) {
				q.unsure = true
			}
		}
	default:
		q.unsure = true
	}
}

// finish finds the properties that closed schemas evaluate, once all schemas are made.
func (b *quickSchemas) finish() {
	for _, q := range b.closed {
		q.evaluated = map[string]bool{}
		q.conditional = q.others != nil
		q.evaluates(q, map[*quickSchema]bool{})
	}
	b.closed = nil
}

// evaluates adds to q the properties that part evaluates for every value that fits it.
func (q *quickSchema) evaluates(part *quickSchema, seen map[*quickSchema]bool) {
	if seen[part] {
		return
	}
	seen[part] = true
	for name := range part.properties {
		q.evaluated[name] = true
	}
	if part.unsure || part.others != nil || part != q && part.closed || part.any != nil || part.one != nil || part.cond != nil {
		q.conditional = true
	}
	for _, sub := range part.all {
		q.evaluates(sub, seen)
	}
}
