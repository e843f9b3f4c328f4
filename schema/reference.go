package schema

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// page builds REFERENCE.md.
type page struct {
	strings.Builder
	g     *generator
	shown map[string]bool // definitions whose members are listed already
}

// reference returns REFERENCE.md: every method, action, state, error and type.
func (g *generator) reference() []byte {
	p := &page{g: g, shown: map[string]bool{}}
	p.line("# Reference")
	p.line("")
	p.line("Generated from the tables and doc comments of this repository; do not edit (`go generate ./schema`).")
	p.line("A member with `?` is optional. Objects can have members that are not listed. `any` is any JSON value. An `integer` has only digits")
	p.line("and 64 bits (a `status` 32 and no sign, a `code` 32), and need not fit a double. Lengths are in code points.")
	p.line("Sections like \"canvas/PROTOCOL.md section 4\" are in this repository.")
	p.line("")
	p.line("[Methods](#methods) · [Notifications](#notifications) · [Actions](#actions) · [States](#states) · [Types](#types) · [Errors](#errors)")
	p.methods("Methods", false)
	p.methods("Notifications", true)
	p.actions()
	p.states()
	p.types()
	p.errors()
	text := spaces.ReplaceAllString(p.String(), "\n")
	return []byte(strings.TrimRight(blank.ReplaceAllString(text, "\n\n"), "\n") + "\n")
}

var (
	blank  = regexp.MustCompile(`\n{3,}`)
	spaces = regexp.MustCompile(` +\n`)
)

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) heading(level int, text string) {
	p.line("\n%s %s\n", strings.Repeat("#", level), text)
}

func (p *page) methods(title string, notifications bool) {
	p.heading(2, title)
	for _, row := range methods() {
		if row.Notification != notifications {
			continue
		}
		p.heading(3, "`"+row.Name+"`")
		params := p.g.name(row.Params)
		p.line("%s%s.", sentence(p.g.about(row)), upperFirst(direction(row.Direction)))
		if !notifications {
			p.line("\nParams: %s. Result: %s.", code(params), p.result(row.Result))
		} else {
			p.line("\nParams: %s.", code(params))
		}
		p.members(params, "")
		if row.Result != nil && row.Result.Name() != "" {
			p.members(p.g.name(row.Result), "")
		}
	}
}

func (p *page) result(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[ahp.None]():
		return "`null`"
	case t.Name() == "":
		return "an object"
	}
	return code(p.g.name(t))
}

func (p *page) actions() {
	p.heading(2, "Actions")
	p.line("In `canvas/updated`, an absent member keeps a value and `null` clears it. In every other action `null` and absent mean the same.")
	for _, k := range kinds {
		p.heading(3, fmt.Sprintf("Of `%s:` channels", k.Scheme))
		p.line("| type | from | since | requires | members | effect |")
		p.line("|---|---|---|---|---|---|")
		for _, row := range k.Actions.Rows() {
			name := p.g.name(row.GoType)
			p.shown[name] = true
			text, _, _ := strings.Cut(p.g.defs[name].Description, "From: ")
			p.line("| `%s` | %s | %s | %s | %s | %s |", row.Type, senders(row), row.Since, row.Capability, p.inline(name), cell(strings.TrimPrefix(text, name+" ")))
		}
	}
}

// inline lists the members of an action except its type.
func (p *page) inline(name string) string {
	var parts []string
	s := p.g.defs[name]
	for m := s.Properties.Oldest(); m != nil; m = m.Next() {
		if m.Key != "type" {
			parts = append(parts, "`"+m.Key+mark(s, m.Key)+"`: "+typeOf(m.Value))
		}
	}
	return strings.Join(parts, ", ")
}

func (p *page) states() {
	p.heading(2, "States")
	for _, k := range kinds {
		name := k.title + "State"
		p.heading(3, name)
		p.line("%s Channels: `%s:`.", p.g.defs[name].Description, k.Scheme)
		p.members(name, "")
	}
}

// types lists the types that the other sections refer to.
func (p *page) types() {
	p.heading(2, "Types")
	for _, name := range slices.Sorted(maps.Keys(p.g.defs)) {
		s := p.g.defs[name]
		if p.shown[name] || p.g.home[name] == "bridge" || isMessage(s) || s.OneOf != nil && p.g.home[name] == "actions" || p.g.home[name] == "errors" && name != "RequestId" && s.Properties != nil {
			continue
		}
		switch {
		case s.OneOf != nil:
			p.heading(3, name)
			p.line("%s One of %s.", s.Description, strings.Join(list(s.OneOf), ", "))
		case s.Properties == nil:
			p.heading(3, name)
			p.line("%s: %s.", strings.TrimSuffix(s.Description, "."), typeOf(s))
		default:
			p.members(name, name)
		}
	}
	p.line("\nThe messages of `http/1`, which are sent in `canvas/message`, are specified in `bridge.json` and in `canvas/bridge/PROTOCOL.md`.")
}

// isMessage reports whether a definition is a whole JSON-RPC message, or a
// union of messages.
func isMessage(s *node) bool {
	if s.Properties != nil {
		_, ok := s.Properties.Get("jsonrpc")
		return ok
	}
	return strings.HasSuffix(s.Description, byMethod)
}

// members writes the table of an object's members, unless it is written
// already, with an optional heading.
func (p *page) members(name, heading string) {
	s := p.g.defs[name]
	if s == nil || p.shown[name] || s.Properties == nil {
		return
	}
	p.shown[name] = true
	if heading != "" {
		p.heading(3, heading)
		p.line("%s", s.Description)
	}
	p.line("\n| `%s` | type | |", name)
	p.line("|---|---|---|")
	for m := s.Properties.Oldest(); m != nil; m = m.Next() {
		p.line("| `%s` | %s | %s |", m.Key+mark(s, m.Key), typeOf(m.Value), cell(m.Value.Description))
	}
}

func (p *page) errors() {
	p.heading(2, "Errors")
	docs := map[string]string{}
	for _, c := range p.g.src.consts["ahp.Code"] {
		docs[c.value] = c.doc
	}
	p.line("| code | name | data | |")
	p.line("|---|---|---|---|")
	for _, c := range codes() {
		data := ""
		if d, ok := errorData[c]; ok {
			data = code(p.g.name(d.t))
		}
		p.line("| %d | %s | %s | %s |", c, ahp.Codes[c], data, cell(docs[fmt.Sprint(int(c))]))
	}
	for _, name := range []string{"UnsupportedVersionData", "ProviderErrorData", "JsonRpcError"} {
		p.members(name, name)
	}
	p.heading(3, "Codes of canvas errors")
	p.line("`ProviderErrorData.code` is defined by the provider, or one of the host's:\n")
	for _, c := range p.g.src.consts["canvas."] {
		if strings.HasPrefix(c.name, "Code") {
			p.line("- `%s`", c.value)
		}
	}
}

// typeOf describes a schema in a few words.
func typeOf(s *node) string {
	switch {
	case s.Ref != "":
		return code(strings.TrimPrefix(s.Ref, "#/$defs/"))
	case s.OneOf != nil:
		return strings.Join(list(s.OneOf), " or ")
	case s.AnyOf != nil:
		return strings.Join(list(s.AnyOf), " or ")
	case s.Const != nil:
		return fmt.Sprintf("`%#v`", s.Const)
	case s.Enum != nil:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("`%#v`", v))
		}
		return strings.Join(values, " or ")
	case s.Type == "array":
		return "list of " + typeOf(s.Items)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "object of " + typeOf(s.AdditionalProperties)
	}
	return cmp.Or(s.Type, "any") + bounds(s)
}

func bounds(s *node) string {
	var parts []string
	if s.MinLength != nil {
		parts = append(parts, fmt.Sprintf("at least %d", *s.MinLength))
	}
	if s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("at most %d", *s.MaxLength))
	}
	if s.Pattern != "" {
		parts = append(parts, "`"+s.Pattern+"`")
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func list(schemas []*node) []string {
	var out []string
	for _, s := range schemas {
		out = append(out, typeOf(s))
	}
	return out
}

func mark(s *node, member string) string {
	if slices.Contains(s.Required, member) {
		return ""
	}
	return "?"
}

// cell escapes a text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`).Replace(strings.TrimSpace(text))
}

func code(name string) string { return "`" + name + "`" }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
