package codegen

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// kotlinPreamble has the functions that the types use.
//
//go:embed preamble.kt
var kotlinPreamble string

// Kotlin returns the definitions as Kotlin classes over kotlinx.serialization's JSON
// objects.
func Kotlin(defs map[string]*node) ([]byte, error) {
	m, err := read(defs)
	if err != nil {
		return nil, err
	}
	k := kotlin{views: newViews(m)}
	k.WriteString(kotlinPreamble)
	for _, e := range m.enums {
		fmt.Fprintf(&k, "\n/** A string of which later versions have more. */\n@JvmInline\nvalue class %s(val text: String) {\n    companion object {\n", e.name)
		for _, v := range e.values {
			fmt.Fprintf(&k, "        val %s = %s(%q)\n", camel(v), e.name, v)
		}
		k.WriteString("    }\n}\n")
	}
	for _, d := range m.defs {
		k.definition(d)
	}
	return []byte(k.String()), nil
}

type kotlin struct {
	strings.Builder
	views
}

func (k *kotlin) definition(d definition) {
	k.WriteString("\n" + kdoc("", d.doc))
	switch {
	case d.alias != nil:
		fmt.Fprintf(k, "typealias %s = %s\n", d.name, k.typ(*d.alias))
	case d.union != "":
		k.union(d)
	default:
		k.class(d)
	}
}

func (k *kotlin) union(d definition) {
	fmt.Fprintf(k, "sealed interface %s : View\n\n", d.name)
	fmt.Fprintf(k, "/** A %s with a tag that this version does not know. */\ndata class Unknown%s(override val json: JsonObject) : %s\n\n", d.name, d.name, d.name)
	fmt.Fprintf(k, "fun read%s(json: JsonObject): %s = when (json.getValue(%q).jsonPrimitive.content) {\n", d.name, d.name, d.union)
	for _, v := range d.variants {
		fmt.Fprintf(k, "    %q -> %s(json)\n", fmt.Sprint(v.tag), v.name)
	}
	fmt.Fprintf(k, "    else -> Unknown%s(json)\n}\n", d.name)
}

func (k *kotlin) class(d definition) {
	fmt.Fprintf(k, "data class %s(override val json: JsonObject) : %s {\n", d.name, strings.Join(append([]string{"View"}, k.unions[d.name]...), ", "))
	var params, puts []string
	for _, f := range d.fields {
		if f.tag != nil {
			puts = append(puts, fmt.Sprintf("            put(%q, %s)", f.name, kotlinTag(f.tag)))
			continue
		}
		name, t, value := kotlinName(f.name), k.typ(f.typ), k.read("it", f.typ)
		let := ".let { " + value + " }"
		if value == "it" {
			let = ""
		}
		k.WriteString(kdoc("    ", f.doc))
		switch {
		case f.required && (!f.nullable || f.typ.kind == opaque):
			fmt.Fprintf(k, "    val %s: %s get() = json.getValue(%q)%s\n", name, t, f.name, let)
			params = append(params, name+": "+t)
			puts = append(puts, fmt.Sprintf("            put(%q, %s)", f.name, k.write(name, f.typ)))
		case f.required:
			fmt.Fprintf(k, "    val %s: %s? get() = json.known(%q)?.let { %s }\n", name, t, f.name, value)
			params = append(params, name+": "+t+"?")
			puts = append(puts, fmt.Sprintf("            put(%q, %s?.let { %s } ?: JsonNull)", f.name, name, k.write("it", f.typ)))
		case f.nullable && f.typ.kind != opaque:
			fmt.Fprintf(k, "    val %s: Maybe<%s>? get() = json.maybe(%q) { %s }\n", name, t, f.name, value)
			params = append(params, fmt.Sprintf("%s: Maybe<%s>? = null", name, t))
			puts = append(puts, fmt.Sprintf("            %s?.let { m -> put(%q, m.value?.let { %s } ?: JsonNull) }", name, f.name, k.write("it", f.typ)))
		default:
			get := "known"
			if f.typ.kind == opaque {
				get = "get"
			}
			if let != "" {
				let = "?" + let
			}
			fmt.Fprintf(k, "    val %s: %s? get() = json.%s(%q)%s\n", name, t, get, f.name, let)
			params = append(params, name+": "+t+"? = null")
			puts = append(puts, fmt.Sprintf("            %s?.let { put(%q, %s) }", name, f.name, k.write("it", f.typ)))
		}
	}
	slices.SortStableFunc(params, func(a, b string) int { // required ones first
		return strings.Count(a, " = ") - strings.Count(b, " = ")
	})
	fmt.Fprintf(k, "\n    companion object {\n        fun of(%s) = %s(buildJsonObject {\n%s\n        })\n    }\n}\n", strings.Join(params, ", "), d.name, strings.Join(puts, "\n"))
}

func (k *kotlin) typ(t typ) string {
	switch t.kind {
	case text:
		return "String"
	case integer:
		return "Long"
	case boolean:
		return "Boolean"
	case object:
		return "JsonObject"
	case array:
		return "List<" + k.typ(*t.elem) + ">"
	case ref, enum:
		return t.name
	case id:
		return "JsonPrimitive"
	}
	return "JsonElement"
}

// read is an expression for an element as a value of its type.
func (k *kotlin) read(element string, t typ) string {
	t = k.resolved(t)
	switch t.kind {
	case text:
		return element + ".jsonPrimitive.content"
	case integer:
		return element + ".jsonPrimitive.long"
	case boolean:
		return element + ".jsonPrimitive.boolean"
	case object:
		return element + ".jsonObject"
	case array:
		return element + ".jsonArray.map { " + k.read("it", *t.elem) + " }"
	case enum:
		return t.name + "(" + element + ".jsonPrimitive.content)"
	case id:
		return element + ".jsonPrimitive"
	case ref:
		if k.isUnion(t.name) {
			return "read" + t.name + "(" + element + ".jsonObject)"
		}
		return t.name + "(" + element + ".jsonObject)"
	}
	return element
}

// write is an expression for a value of a type as an element.
func (k *kotlin) write(value string, t typ) string {
	t = k.resolved(t)
	switch t.kind {
	case text, integer, boolean:
		return "JsonPrimitive(" + value + ")"
	case array:
		return "JsonArray(" + value + ".map { " + k.write("it", *t.elem) + " })"
	case enum:
		return "JsonPrimitive(" + value + ".text)"
	case ref:
		return value + ".json"
	}
	return value
}

func kotlinTag(tag any) string {
	if s, ok := tag.(string); ok {
		return fmt.Sprintf("JsonPrimitive(%q)", s)
	}
	return fmt.Sprintf("JsonPrimitive(%v)", tag)
}

var kotlinKeywords = []string{"object", "val", "fun", "in", "is", "when", "interface", "package", "json", "typealias"}

func kotlinName(name string) string {
	n := camel(name)
	if slices.Contains(kotlinKeywords, n) {
		return "`" + n + "`"
	}
	return n
}

func kdoc(indent, doc string) string {
	text := commented(indent, " *", strings.ReplaceAll(doc, "*/", "* /"))
	if text == "" {
		return ""
	}
	return indent + "/**\n" + text + indent + " */\n"
}
