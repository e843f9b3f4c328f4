package codegen

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// swiftPreamble has the JSON type and the functions that the types use.
//
//go:embed preamble.swift
var swiftPreamble string

// Swift returns the definitions as Swift structures over JSON objects.
func Swift(defs map[string]*node) ([]byte, error) {
	m, err := read(defs)
	if err != nil {
		return nil, err
	}
	s := swift{views: newViews(m)}
	s.WriteString(swiftPreamble)
	for _, e := range m.enums {
		fmt.Fprintf(&s, "\n/// A string of which later versions have more.\npublic struct %s: RawRepresentable, Hashable, Sendable {\n    public var rawValue: String\n    public init(rawValue: String) { self.rawValue = rawValue }\n", e.name)
		for _, v := range e.values {
			fmt.Fprintf(&s, "    public static let %s = %s(rawValue: %q)\n", swiftName(v), e.name, v)
		}
		s.WriteString("}\n")
	}
	for _, d := range m.defs {
		s.WriteString("\n" + commented("", "///", d.doc))
		switch {
		case d.alias != nil:
			fmt.Fprintf(&s, "public typealias %s = %s\n", d.name, s.typ(*d.alias))
		case d.union != "":
			s.union(d)
		default:
			s.structure(d)
		}
	}
	return []byte(s.String()), nil
}

type swift struct {
	strings.Builder
	views
}

func (s *swift) union(d definition) {
	fmt.Fprintf(s, "public enum %s: AHPView {\n", d.name)
	for _, v := range d.variants {
		fmt.Fprintf(s, "    case %s(%s)\n", camel(v.name), v.name)
	}
	fmt.Fprintf(s, "    /// A tag that this version does not know.\n    case unknown([String: JSON])\n\n    public init(members: [String: JSON]) {\n        switch members[%q] {\n", d.union)
	for _, v := range d.variants {
		fmt.Fprintf(s, "        case %s: self = .%s(%s(members: members))\n", swiftTag(v.tag), camel(v.name), v.name)
	}
	s.WriteString("        default: self = .unknown(members)\n        }\n    }\n\n    public var members: [String: JSON] {\n        switch self {\n")
	for _, v := range d.variants {
		fmt.Fprintf(s, "        case .%s(let v): return v.members\n", camel(v.name))
	}
	s.WriteString("        case .unknown(let v): return v\n        }\n    }\n}\n")
}

func (s *swift) structure(d definition) {
	var tags []string
	for _, f := range d.fields {
		if f.tag != nil {
			tags = append(tags, fmt.Sprintf("%q: %s", f.name, swiftTag(f.tag)))
		}
	}
	first := "[:]"
	if tags != nil {
		first = "[" + strings.Join(tags, ", ") + "]"
	}
	fmt.Fprintf(s, "public struct %s: AHPView {\n    public var members: [String: JSON]\n    public init(members: [String: JSON] = %s) { self.members = members }\n", d.name, first)
	for _, f := range d.fields {
		if f.tag != nil {
			continue
		}
		name, t := swiftName(f.name), s.typ(f.typ)
		s.WriteString("\n" + commented("    ", "///", f.doc))
		get := fmt.Sprintf("members[%q].flatMap { %s }", f.name, s.read("$0", f.typ))
		set := fmt.Sprintf("newValue.map { %s }", s.write("$0", f.typ))
		if f.nullable && f.typ.kind != opaque {
			t += "?"
			get = fmt.Sprintf("members[%q].map { %s }", f.name, s.read("$0", f.typ))
			set = fmt.Sprintf("newValue.map { value in value.map { %s } ?? .null }", s.write("$0", f.typ))
		}
		fmt.Fprintf(s, "    public var %s: %s? {\n        get { %s }\n        set { members[%q] = %s }\n    }\n", name, t, get, f.name, set)
	}
	s.WriteString("}\n")
}

func (s *swift) typ(t typ) string {
	switch t.kind {
	case text:
		return "String"
	case integer:
		return "Int64"
	case boolean:
		return "Bool"
	case object:
		return "[String: JSON]"
	case array:
		return "[" + s.typ(*t.elem) + "]"
	case ref, enum:
		return t.name
	}
	return "JSON"
}

// read is an expression for a JSON value as an optional value of its type.
func (s *swift) read(value string, t typ) string {
	t = s.resolved(t)
	switch t.kind {
	case text:
		return value + ".text"
	case integer:
		return value + ".integer"
	case boolean:
		return value + ".boolean"
	case object:
		return value + ".object"
	case array:
		return value + ".array?.compactMap { " + s.read("$0", *t.elem) + " }"
	case enum:
		return value + ".text.map(" + t.name + ".init(rawValue:))"
	case ref:
		return value + ".object.map(" + t.name + ".init(members:))"
	}
	return "Optional(" + value + ")"
}

// write is an expression for a value of a type as JSON.
func (s *swift) write(value string, t typ) string {
	t = s.resolved(t)
	switch t.kind {
	case text:
		return "JSON.string(" + value + ")"
	case integer:
		return "JSON.number(Decimal(" + value + "))"
	case boolean:
		return "JSON.bool(" + value + ")"
	case object:
		return "JSON.object(" + value + ")"
	case array:
		return "JSON.array(" + value + ".map { " + s.write("$0", *t.elem) + " })"
	case enum:
		return "JSON.string(" + value + ".rawValue)"
	case ref:
		return "JSON.object(" + value + ".members)"
	}
	return value
}

func swiftTag(tag any) string {
	if text, ok := tag.(string); ok {
		return fmt.Sprintf("JSON.string(%q)", text)
	}
	return fmt.Sprintf("JSON.number(%v)", tag)
}

var swiftKeywords = []string{"default", "extension", "in", "is", "operator", "protocol", "self", "where", "members"}

func swiftName(name string) string {
	n := camel(name)
	if slices.Contains(swiftKeywords, n) {
		return "`" + n + "`"
	}
	return n
}
