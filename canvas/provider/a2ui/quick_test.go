package a2ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// allSchemas are the schemas of the basic catalog, with names.
func allSchemas() map[string]schema {
	c, all := Basic(), map[string]schema{}
	for name, s := range c.messages {
		all["message "+name] = s
	}
	for name, known := range c.components {
		all["component "+name] = known.schema
	}
	for name, s := range c.functions {
		all["function "+name] = s
	}
	return all
}

// agree fails if the quick verdict of a value is not the schema library's.
func agree(t testing.TB, name string, s schema, v any) quickVerdict {
	t.Helper()
	quick := s.quick.check(v, maxQuick)
	if full := s.full.Validate(v) == nil; quick == fits && !full || quick == breaks && full {
		t.Errorf("%s: quickly %d, the library accepts: %v\n%s", name, quick, full, encode(v))
	}
	return quick
}

// TestQuickAgrees: the quick verdicts of each message, component and call in the examples, and of
// thousands of changed ones, are those of the schema library; what is valid is nearly never left to it.
func TestQuickAgrees(t *testing.T) {
	t.Parallel()
	all := allSchemas()
	keys := slices.Sorted(maps.Keys(all))
	var values []any // every object in the examples
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			values = append(values, v)
			for _, key := range sortedKeys(v) {
				collect(v[key])
			}
		case []any:
			for _, e := range v {
				collect(e)
			}
		}
	}
	for _, name := range names(t, "examples/*.json") {
		for _, raw := range load[example](t, name).Messages {
			tree, err := decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			collect(tree)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	counts := map[quickVerdict]int{}
	for _, v := range values {
		m := object(v)
		m = object(clone(m))
		if _, ok := m["version"]; ok {
			m["version"] = V09
		}
		own := "component " + str(m, "component")
		if name := str(m, "call"); name != "" {
			own = "function " + name
		}
		for _, key := range sortedUpdateKeys {
			if m[key] != nil {
				own = "message " + key
			}
		}
		if s, ok := all[own]; ok {
			if got := agree(t, own, s, m); got == unsure {
				t.Errorf("%s: a value of the examples is left to the library: %s", own, encode(m))
			}
		}
		for range 12 {
			if s, ok := all[own]; ok {
				changed := clone(m)
				mutate(random, changed, values)
				counts[agree(t, own, s, changed)]++
			}
			other := keys[random.IntN(len(keys))]
			counts[agree(t, other, all[other], m)]++
		}
	}
	if counts[fits] < 1000 || counts[breaks] < 1000 || counts[unsure] > counts[fits]/10 {
		t.Errorf("%d fit, %d do not, %d are left to the library", counts[fits], counts[breaks], counts[unsure])
	}
}

// mutate changes something in a tree.
func mutate(random *rand.Rand, tree any, values []any) {
	others := []any{nil, true, "", "x", json.Number("0"), json.Number("1.0"), json.Number("-1"), json.Number("1e400"), []any{}, []any{"a", json.Number("1")},
		map[string]any{}, map[string]any{"path": "/a"}, map[string]any{"path": "/a", "x": true}, map[string]any{"call": "required", "args": map[string]any{"value": ""}},
		map[string]any{"call": "f", "returnType": "string"}, map[string]any{"call": "f", "args": map[string]any{"a": []any{}}, "returnType": "boolean"}}
	m, ok := tree.(map[string]any)
	if !ok {
		if list, ok := tree.([]any); ok && len(list) > 0 {
			mutate(random, list[random.IntN(len(list))], values)
		}
		return
	}
	keys := sortedKeys(m)
	if len(keys) == 0 {
		m["x"] = true
		return
	}
	key := keys[random.IntN(len(keys))]
	switch random.IntN(6) {
	case 0:
		delete(m, key)
	case 1:
		m[key] = clone(others[random.IntN(len(others))])
	case 2:
		m[fmt.Sprint("x", random.IntN(3))] = "y"
	case 3:
		m[key] = clone(values[random.IntN(len(values))])
	default:
		mutate(random, m[key], values)
	}
}

// TestQuickKeywords holds each keyword against the library, for values at its edges, and
// keywords that quick checks do not know.
func TestQuickKeywords(t *testing.T) {
	t.Parallel()
	values := []string{`null`, `true`, `false`, `0`, `1`, `-1`, `2`, `1.0`, `1.5`, `2.0`, `1e2`, `1E400`, `-0`, `12345678901234567890`, `2.00000000000000000001`, `""`, `"a"`, `"b"`, `"aa"`, `[]`, `["a"]`, `["a","a"]`, `[1]`, `[1,"a"]`,
		`{}`, `{"a":1}`, `{"a":"x"}`, `{"a":1,"b":2}`, `{"b":2}`, `{"a":1,"b":2,"c":3}`, `{"a":{"a":{"a":1}}}`}
	for text, known := range map[string]bool{
		`true`: true, `false`: true, `{}`: true, `{"type":"string"}`: true, `{"type":["string","null"]}`: true, `{"type":"integer"}`: true, `{"type":"number"}`: true, `{"type":["integer","string"]}`: true,
		`{"const":"a"}`: true, `{"const":true}`: true, `{"const":1}`: false, `{"const":null}`: false, `{"const":["a"]}`: false, `{"enum":["a","b"]}`: true, `{"enum":["a",1]}`: false,
		`{"pattern":"^a+$"}`: true, `{"minimum":2}`: true, `{"minimum":1.5}`: true, `{"minItems":1}`: true, `{"minItems":2}`: true, `{"minProperties":1}`: true, `{"maxProperties":1}`: true, `{"maxProperties":0}`: true,
		`{"required":["a","b"]}`: true, `{"properties":{"a":{"type":"number"}}}`: true, `{"properties":{"a":true},"additionalProperties":false}`: true, `{"properties":{"a":true},"additionalProperties":{"type":"string"}}`: true,
		`{"items":{"type":"string"}}`: true, `{"allOf":[{"required":["a"]},{"required":["b"]}]}`: true, `{"anyOf":[{"type":"string"},{"minimum":2}]}`: true, `{"oneOf":[{"type":"string"},{"minimum":2}]}`: true, `{"oneOf":[{"type":"object"},{"required":["a"]}]}`: true,
		`{"not":{"type":"string"}}`: true, `{"not":{"const":1}}`: false, `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"type":"string"}}`: true, `{"if":{"type":"string"},"else":false}`: true,
		`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`: true, `{"properties":{"b":true},"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`: true,
		`{"properties":{"b":true},"anyOf":[{"properties":{"a":{"type":"number"}}},{"type":"object"}],"unevaluatedProperties":false}`: false,
		`{"properties":{"b":true},"if":{"properties":{"a":{"const":"x"}}},"unevaluatedProperties":false}`:                            false,
		`{"allOf":[{"additionalProperties":{"type":"number"}}],"unevaluatedProperties":false}`:                                       false,
		`{"allOf":[{"properties":{"a":true},"unevaluatedProperties":false}],"properties":{"b":true},"unevaluatedProperties":false}`:  true,
		`{"properties":{"a":true},"additionalProperties":{"type":"number"},"unevaluatedProperties":false}`:                           false,
		`{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}`:                                                                       true, `{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`: true, `{"$ref":"#/$defs/x~1y","$defs":{"x/y":{"type":"string"}}}`: true,
		`{"maxLength":1}`: false, `{"format":"email"}`: false, `{"uniqueItems":true}`: false, `{"patternProperties":{"^a":false}}`: false, `{"propertyNames":{"const":"a"}}`: false,
		`{"oneOf":[{"type":"string"},{"maxLength":1}]}`: false, `{"anyOf":[{"maxLength":1},{"type":"string"}]}`: false, `{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`: false,
	} {
		tree, err := decode(ahp.Value(text))
		if err != nil {
			t.Fatal(err)
		}
		compiler := newCompiler()
		if err := compiler.AddResource(catalogURL, tree); err != nil {
			t.Fatal(err)
		}
		full, err := compiler.Compile(catalogURL)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		quick := &quickSchemas{documents: map[string]map[string]any{}, made: map[string]*quickSchema{}}
		q := &quickSchema{}
		if m := object(tree); m != nil {
			quick.documents[catalogURL] = m
			q = quick.at(catalogURL)
		} else {
			quick.make(q, tree, catalogURL, true)
		}
		quick.finish()
		left := 0
		for _, v := range values {
			tree, err := decode(ahp.Value(v))
			if err != nil {
				t.Fatal(err)
			}
			if agree(t, text, schema{q, full}, tree) == unsure {
				left++
			}
		}
		if known && left > 8 || !known && left == 0 {
			t.Errorf("%s: %d values are left to the library", text, left)
		}
	}
}

// FuzzQuick looks for a value whose quick verdict is not the schema library's.
func FuzzQuick(f *testing.F) {
	for _, name := range names(f, "examples/*.json") {
		for _, raw := range load[example](f, name).Messages {
			tree, err := decode(raw)
			if err != nil {
				f.Fatal(err)
			}
			list, _ := object(tree, "updateComponents")["components"].([]any)
			for _, e := range list {
				f.Add([]byte(encode(e)))
			}
		}
	}
	all := allSchemas()
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !ahp.Value(raw).IsValid() {
			return
		}
		tree, err := decode(raw)
		if err != nil {
			return
		}
		m := object(tree)
		if s, ok := all["component "+str(m, "component")]; ok {
			agree(t, "component", s, tree)
		}
		if s, ok := all["function "+str(m, "call")]; ok {
			agree(t, "function", s, tree)
		}
		for _, key := range sortedUpdateKeys {
			agree(t, key, all["message "+key], tree)
		}
	})
}

// TestDecode: trees are those of the schema library, with all digits of numbers.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, text := range []string{` null `, `true`, "\tfalse\n", `0`, `-1.50e+2`, `12345678901234567890.10`, `""`, `"a\"b\\c\/\u00e9\n\ud83d\ude00"`, `"\\"`, `"é😀"`, `[]`, ` [ 1 , [ ] , { } ] `, `{}`, ` { "a" : { "b" : [ null , "x" ] } , "" : 0 } `, `{"a\u0062":1}`} {
		same(t, []byte(text))
	}
	for _, text := range []string{``, ` `, `{`, `[1`, `"a`, `"a\`, `tru`, `{"a"}`, `{"a":}`, `{1:2}`, `[1,]`, `{"a":1,}`, `1 2`, `"\ud800"`, `{"a":1]`} {
		if tree, err := decode(ahp.Value(text)); err == nil {
			if other, theirs := jsonschema.UnmarshalJSON(strings.NewReader(text)); theirs != nil || !reflect.DeepEqual(tree, other) {
				t.Errorf("%s is %v", text, tree)
			}
		}
	}
}

// same fails if decode returns another tree than the schema library.
func same(t testing.TB, raw []byte) {
	t.Helper()
	tree, err := decode(raw)
	want, theirs := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil || theirs != nil || !reflect.DeepEqual(tree, want) {
		t.Errorf("%s is %#v (%v), and not %#v (%v)", raw, tree, err, want, theirs)
	}
}

// FuzzDecode looks for valid JSON that is decoded to another tree than the schema library's.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\u00e9\\",null,{"b":-1.5e3}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if ahp.Value(raw).IsValid() {
			same(t, raw)
		}
	})
}
