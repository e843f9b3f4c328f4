package codegen

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// rustPreamble has the macros and functions that the types use.
//
//go:embed preamble.rs
var rustPreamble string

// Rust returns the definitions as Rust types for serde.
func Rust(defs map[string]*node) ([]byte, error) {
	m, err := read(defs)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(rustPreamble)
	for _, e := range m.enums {
		fmt.Fprintf(&b, "\nstring_enum!(%s {", e.name)
		for _, v := range e.values {
			fmt.Fprintf(&b, " %s = %q,", pascal(v), v)
		}
		b.WriteString(" });\n")
	}
	b.WriteString("\n" + rustLiterals(m))
	for _, d := range m.defs {
		b.WriteString("\n" + commented("", "///", d.doc))
		switch {
		case d.alias != nil:
			fmt.Fprintf(&b, "pub type %s = %s;\n", d.name, rustType(*d.alias))
		case d.union != "":
			rustUnion(&b, d)
		default:
			rustStruct(&b, d)
		}
	}
	return []byte(b.String()), nil
}

// rustLiterals declares the types of members that have one value.
func rustLiterals(m *model) string {
	var lines []string
	for _, d := range m.defs {
		for _, f := range d.fields {
			switch f.tag.(type) {
			case nil:
			case string:
				lines = append(lines, fmt.Sprintf("literal!(%s: str = %q);\n", literal(f.tag), f.tag))
			default:
				lines = append(lines, fmt.Sprintf("literal!(%s: i64 = %v);\n", literal(f.tag), f.tag))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

func rustUnion(b *strings.Builder, d definition) {
	fmt.Fprintf(b, "#[derive(Clone, Debug, PartialEq)]\npub enum %s {\n", d.name)
	for _, v := range d.variants {
		fmt.Fprintf(b, "    %s(Box<%s>),\n", v.name, v.name)
	}
	fmt.Fprintf(b, "    /// A value with a tag that this version does not know.\n    Unknown(Value),\n}\n")
	fmt.Fprintf(b, "tagged!(%s, %q, {", d.name, d.union)
	for _, v := range d.variants {
		fmt.Fprintf(b, " %s = %s,", v.name, rustTag(v.tag))
	}
	b.WriteString(" });\n")
}

// rustTag is the text that a union compares with a value's tag.
func rustTag(tag any) string { return fmt.Sprintf("%q", fmt.Sprint(tag)) }

// rustStruct writes a structure, and how its members are read and written: required,
// optional, or nullable, where null differs from absent.
func rustStruct(b *strings.Builder, d definition) {
	fmt.Fprintf(b, "#[derive(Clone, Debug, PartialEq)]\npub struct %s {\n", d.name)
	var members []string
	for _, f := range d.fields {
		b.WriteString(commented("    ", "///", f.doc))
		name, t, how := rustName(f.name), rustType(f.typ), "required"
		if f.tag != nil {
			t = literal(f.tag)
		}
		if f.nullable && f.typ.kind != opaque {
			t = "Option<" + t + ">" // None is null
		}
		if !f.required {
			t, how = "Option<"+t+">", "optional"
			if f.nullable {
				how = "nullable"
			}
		}
		fmt.Fprintf(b, "    pub %s: %s,\n", name, t)
		members = append(members, fmt.Sprintf("    %s %s %q,\n", how, name, f.name))
	}
	b.WriteString("    /// Members that this version does not know.\n    pub extra: Map<String, Value>,\n}\n")
	fmt.Fprintf(b, "object!(%s {\n%s});\n", d.name, strings.Join(members, ""))
}

func rustType(t typ) string {
	switch t.kind {
	case text:
		return "String"
	case integer:
		return "i64"
	case boolean:
		return "bool"
	case null:
		return "()"
	case object:
		return "Map<String, Value>"
	case array:
		return "Vec<" + rustType(*t.elem) + ">"
	case ref, enum:
		return t.name
	case id:
		return "StringOrNumber"
	}
	return "Value"
}

var rustKeywords = []string{"type", "ref", "self", "match", "move", "enum", "struct", "use", "where", "loop", "final", "in", "mod"}

func rustName(name string) string {
	n := snake(name)
	if slices.Contains(rustKeywords, n) {
		return "r#" + n
	}
	return n
}
