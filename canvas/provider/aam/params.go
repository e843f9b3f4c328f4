package aam

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// param is one parameter of an action.
type param struct {
	name     string
	members  []member
	kind     string
	format   string
	min, max *big.Rat
	enum     []ahp.Value
	optional bool
}

// member is one member of an object, in its order.
type member struct {
	name  string
	value ahp.Value
}

// object returns the members of an object in their order.
func object(v ahp.Value) ([]member, error) {
	if v.Kind() != '{' {
		return nil, fmt.Errorf("want an object")
	}
	var all map[string]ahp.Value
	if err := ahp.Unmarshal(v, &all); err != nil {
		return nil, err
	}
	names, err := keys(v)
	if err != nil {
		return nil, err
	}
	list := make([]member, 0, len(names))
	for _, n := range names {
		list = append(list, member{n, all[n]})
	}
	return list, nil
}

// params returns the parameters of an action in their order.
func (a Action) params() ([]param, error) {
	if a.Params == nil {
		return nil, nil
	}
	list, err := object(a.Params)
	if err != nil {
		return nil, err
	}
	out := make([]param, 0, len(list))
	for _, m := range list {
		p, err := readParam(m.name, m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quote(m.name), err)
		}
		out = append(out, p)
	}
	return out, nil
}

func readParam(name string, v ahp.Value) (param, error) {
	p := param{name: name}
	if v.Kind() == '"' { // a type alone
		return p, ahp.Unmarshal(v, &p.kind)
	}
	members, err := object(v)
	if err != nil {
		return p, err
	}
	for _, m := range members {
		switch m.name {
		case "type":
			err = ahp.Unmarshal(m.value, &p.kind)
		case "format":
			err = ahp.Unmarshal(m.value, &p.format)
		case "min":
			p.min, err = rational(m.value)
		case "max":
			p.max, err = rational(m.value)
		case "required":
			p.optional = p.optional || string(m.value) == "false"
		case "optional":
			p.optional = p.optional || string(m.value) == "true"
		case "enum":
			err = ahp.Unmarshal(m.value, &p.enum)
			p.members = append(p.members, m)
		default:
			if !strings.HasPrefix(m.name, "$") {
				p.members = append(p.members, m)
			}
		}
		if err != nil {
			return p, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return p, nil
}

// rational reads a number exactly. Exponents are limited, because 1e999999999 takes all
// memory.
func rational(v ahp.Value) (*big.Rat, error) {
	if v.Kind() != '0' || len(v) > 40 || strings.ContainsAny(string(v), "eE") {
		return nil, fmt.Errorf("want a plain number")
	}
	r, ok := new(big.Rat).SetString(string(v))
	if !ok {
		return nil, fmt.Errorf("want a number")
	}
	return r, nil
}

// The formats of AAM, as patterns.
const (
	datePattern = `^\d{4}-\d{2}-\d{2}$`
	timePattern = `^([01]\d|2[0-3]):[0-5]\d$`
	timeFormat  = "HH:MM"
)

var isTime = regexp.MustCompile(timePattern)

// InputSchema returns the JSON Schema of the action's parameters.
func (a Action) InputSchema() ahp.Value {
	if a.Schema.Kind() == '{' {
		return a.Schema
	}
	list, err := a.params()
	if err != nil { // ParseManifest refuses it
		return ahp.Value(`{"type":"object"}`)
	}
	type schema struct {
		Type       string    `json:"type"`
		Properties ahp.Value `json:"properties"`
		Required   []string  `json:"required,omitzero"`
		More       bool      `json:"additionalProperties"`
	}
	var required []string
	properties := make([]member, 0, len(list))
	for _, p := range list {
		properties = append(properties, member{p.name, p.schema()})
		if !p.optional {
			required = append(required, p.name)
		}
	}
	return ahp.MustMarshal(schema{"object", encode(properties), required, false})
}

// schema returns the JSON Schema of one parameter.
func (p param) schema() ahp.Value {
	var out []member
	add := func(name string, v any) { out = append(out, member{name, ahp.MustMarshal(v)}) }
	if p.kind != "" {
		add("type", p.kind)
	}
	switch p.format {
	case "":
	case timeFormat:
		add("pattern", timePattern)
	case "date":
		add("format", p.format)
		add("pattern", datePattern)
	default:
		add("format", p.format)
	}
	low, high := "minimum", "maximum"
	if p.kind == "string" {
		low, high = "minLength", "maxLength"
	}
	if p.min != nil {
		out = append(out, member{low, ahp.Value(plain(p.min))})
	}
	if p.max != nil {
		out = append(out, member{high, ahp.Value(plain(p.max))})
	}
	for _, m := range p.members {
		if !slices.ContainsFunc(out, func(o member) bool { return o.name == m.name }) {
			out = append(out, m)
		}
	}
	return encode(out)
}

// plain writes a number without an exponent.
func plain(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(40), "0")
}

// Check holds parameters against the action's. Its errors have a path below
// /input/params. What only Schema says is left to the site.
func (a Action) Check(params ahp.Value) error {
	bad := func(name, rule, format string, args ...any) error {
		e := errorf(CodeInputInvalid, "/input/params", format, args...)
		if name != "" {
			e.Path += "/" + escapePointer(name)
		}
		e.Rule = rule
		return e
	}
	given, err := object(params)
	if err != nil {
		return bad("", "type", "want an object")
	}
	list, err := a.params()
	if err != nil {
		return bad("", "type", "%v", err)
	}
	for _, p := range list {
		i := slices.IndexFunc(given, func(m member) bool { return m.name == p.name })
		if i < 0 {
			if !p.optional {
				return bad(p.name, "required", "it is required")
			}
			continue
		}
		if rule, why := p.check(given[i].value); rule != "" {
			return bad(p.name, rule, "%s", why)
		}
	}
	for _, m := range given {
		if a.Schema == nil && !slices.ContainsFunc(list, func(p param) bool { return p.name == m.name }) {
			return bad(m.name, "additionalProperties", "the action has no such parameter")
		}
	}
	return nil
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// check returns the rule that a value breaks, and how; "" if none.
func (p param) check(v ahp.Value) (rule, why string) {
	if len(p.enum) > 0 && !slices.ContainsFunc(p.enum, func(e ahp.Value) bool { return ahp.Equal(e, v) }) {
		return "enum", "it is none of the values that the action takes"
	}
	switch p.kind {
	case "string":
		return p.checkString(v)
	case "integer", "number":
		return p.checkNumber(v)
	case "boolean":
		if v.Kind() != 't' && v.Kind() != 'f' {
			return "type", "want a boolean"
		}
	}
	return "", ""
}

func (p param) checkString(v ahp.Value) (rule, why string) {
	var s string
	if v.Kind() != '"' || ahp.Unmarshal(v, &s) != nil {
		return "type", "want a string"
	}
	n := new(big.Rat).SetInt64(int64(utf8.RuneCountInString(s)))
	switch _, err := time.Parse(time.DateOnly, s); {
	case p.min != nil && n.Cmp(p.min) < 0:
		return "minLength", "it is shorter than " + plain(p.min)
	case p.max != nil && n.Cmp(p.max) > 0:
		return "maxLength", "it is longer than " + plain(p.max)
	case p.format == "date" && err != nil:
		return "format", "want a date, as in 2026-05-02"
	case p.format == timeFormat && !isTime.MatchString(s):
		return "pattern", "want a time, as in 19:00"
	}
	return "", ""
}

func (p param) checkNumber(v ahp.Value) (rule, why string) {
	n, err := rational(v)
	switch {
	case v.Kind() != '0':
		return "type", "want a number"
	case err != nil:
		return "type", err.Error()
	case p.kind == "integer" && !n.IsInt():
		return "type", "want an integer"
	case p.min != nil && n.Cmp(p.min) < 0:
		return "minimum", "it is below " + plain(p.min)
	case p.max != nil && n.Cmp(p.max) > 0:
		return "maximum", "it is above " + plain(p.max)
	}
	return "", ""
}
