package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// bridge adds the hand-written schema of canvas/bridge: a definition
// Bridge<Name> for each of its definitions, and BridgeMessage, their union.
// That file lists the members that all messages share once. Here each message
// has them, so that the members of the union are complete.
func (g *generator) bridge(text []byte) error {
	g.file = "bridge"
	var doc node
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"#/$defs/`, `"#/$defs/+`)), &doc); err != nil {
		return err
	}
	rename := func(name string) string { return "Bridge" + pascal(name) }
	var messages []string
	for _, m := range doc.OneOf {
		messages = append(messages, strings.TrimPrefix(m.Ref, "#/$defs/+"))
	}
	for name, s := range doc.Definitions {
		renameRefs(s, rename)
		if slices.Contains(messages, name) {
			if s.Properties == nil {
				return fmt.Errorf("%s has no properties", name)
			}
			s.Type, s.Description, s.Title = "object", s.Title, ""
			protocol, _ := doc.Properties.Get("x-ahp")
			s.Properties.Set("x-ahp", &node{Type: "string", Const: protocol.Const})
			s.Required = slices.Concat(doc.Required, s.Required)
			kind, _ := s.Properties.Get("type")
			kind.Type = "string"
		}
		g.define(rename(name), s)
	}
	for i, name := range messages {
		messages[i] = rename(name)
	}
	g.oneOf("BridgeMessage", doc.Description, messages)
	return nil
}

// renameRefs renames the definitions that a schema refers to.
func renameRefs(s *node, rename func(string) string) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/+"); ok {
		s.Ref = "#/$defs/" + rename(name)
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			renameRefs(p.Value, rename)
		}
	}
	for _, sub := range slices.Concat(s.PrefixItems, s.OneOf, s.AnyOf, s.AllOf, []*node{s.Items}) {
		renameRefs(sub, rename)
	}
}
