package schema

import (
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
)

// variant is one shape of a struct that has several.
type variant struct {
	name     string   // name of the definition
	tag      string   // value of the union's tag
	required []string // required members besides the tag
	absent   []string // members that only other variants have
}

// unions are the structs whose tag determines which other members are present.
// Go has one struct; the schema has one definition per tag.
var unions = map[string]struct {
	tag      string
	variants []variant
}{
	"CanvasProviderSource": {"kind", []variant{
		{"ServerCanvasSource", "server", nil, []string{"clientId"}},
		{"ClientCanvasSource", "client", []string{"clientId"}, nil},
	}},
	"ReconnectResult": {"type", []variant{
		{"ReconnectReplayResult", "replay", []string{"actions", "missing"}, []string{"snapshots"}},
		{"ReconnectSnapshotResult", "snapshot", []string{"snapshots"}, []string{"actions", "missing"}},
	}},
}

// split turns a definition listed in unions into a union of its variants.
func (g *generator) split(name string, s *node) {
	u, ok := unions[name]
	if !ok {
		return
	}
	g.used[name] = true
	whole := *s
	*s = node{Description: whole.Description}
	for _, v := range u.variants {
		part := &node{Type: "object", Properties: jsonschema.NewProperties(), Required: append([]string{u.tag}, v.required...)}
		for p := whole.Properties.Oldest(); p != nil; p = p.Next() {
			switch {
			case p.Key == u.tag:
				part.Properties.Set(p.Key, &node{Type: "string", Const: v.tag})
			case !slices.Contains(v.absent, p.Key):
				part.Properties.Set(p.Key, p.Value)
			}
		}
		part.Description = fmt.Sprintf("A %s whose %s is %q.", name, u.tag, v.tag)
		g.define(v.name, part)
		s.OneOf = append(s.OneOf, ref(v.name))
	}
}

// oneOf defines a union of definitions, each identified by a const member.
func (g *generator) oneOf(name, description string, members []string) {
	s := &node{Description: description}
	for _, m := range members {
		s.OneOf = append(s.OneOf, ref(m))
	}
	g.define(name, s)
}

// object returns an open object. members are pairs of name and schema; a name
// that ends in "?" is optional.
func object(description string, members ...any) *node {
	s := &node{Type: "object", Description: description, Properties: jsonschema.NewProperties()}
	for i := 0; i < len(members); i += 2 {
		name := members[i].(string)
		if optional := name[len(name)-1] == '?'; optional {
			name = name[:len(name)-1]
		} else {
			s.Required = append(s.Required, name)
		}
		s.Properties.Set(name, members[i+1].(*node))
	}
	return s
}

// byScheme restricts a member by the scheme of the URI in another member: a
// chain of if, then and else. For an unknown scheme the member can have any
// value.
func byScheme(s *node, uriMember, member string, definition func(kind) string) {
	for _, k := range kinds {
		s.If = object("", uriMember, &node{Type: "string", Pattern: "^" + k.Scheme + ":"})
		s.Then = object("", member+"?", ref(definition(k)))
		s.Else = &node{}
		s = s.Else
	}
	s.Type = "object"
}
