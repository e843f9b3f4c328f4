package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// build walks the tables, one file after the other. A type belongs to the first
// file that needs it.
func (g *generator) build() {
	g.file = "state"
	for _, k := range kinds {
		g.reflect(k.State)
	}
	g.reflect(reflect.TypeFor[ahp.Snapshot]())
	byScheme(g.defs["Snapshot"], "resource", "state", func(k kind) string { return k.title + "State" })

	g.file = "actions"
	for _, k := range kinds {
		g.actions(k)
	}
	g.file = "errors"
	g.errors()
	g.file = "notifications"
	g.messages(true)
	g.carried()
	g.file = "commands"
	g.messages(false)
}

// actions defines the actions of a kind: <Kind>Action is what a host sends,
// <Kind>ClientAction what a client may dispatch, older spellings included. Where
// that is nothing else, there is no second name: generators of code take two
// definitions of one shape for one.
func (g *generator) actions(k kind) {
	var sent, dispatched []string
	for _, row := range k.Actions.Rows() {
		name := g.reflect(row.GoType)
		s := g.defs[name]
		clearable(row.GoType, s)
		tag(s, "type", row.Type)
		s.Description = sentence(s.Description) + rowNotes(row)
		if !row.Alias {
			sent = append(sent, name)
		}
		if row.From&(ahp.FromClient|ahp.FromProvider) != 0 {
			dispatched = append(dispatched, name)
		}
	}
	g.oneOf(k.title+"Action", fmt.Sprintf("An action of an %s: channel, told apart by its type.", k.Scheme), sent)
	switch {
	case len(dispatched) == 1:
		g.dispatched[k.title] = dispatched[0]
		return
	case slices.Equal(sent, dispatched):
		g.dispatched[k.title] = k.title + "Action"
		return
	}
	g.dispatched[k.title] = k.title + "ClientAction"
	g.oneOf(g.dispatched[k.title], fmt.Sprintf("An action that a client may dispatch on an %s: channel.", k.Scheme), dispatched)
}

// clearable lets null stand for absent in an action's optional members: both
// clear (ahp-host.md section 3c). Elsewhere an optional member is never null.
func clearable(t reflect.Type, s *node) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		opaque := f.Type == reflect.TypeFor[ahp.Value]()
		if options == "" || opaque || f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Slice {
			continue
		}
		value, _ := s.Properties.Get(name)
		text := value.Description
		value.Description = ""
		s.Properties.Set(name, &node{Description: text, AnyOf: []*node{value, {Type: "null"}}})
	}
}

func rowNotes(row *ahp.ActionRow) string {
	notes := fmt.Sprintf("From: %s. Since %s.", senders(row), row.Since)
	if row.Capability != "" {
		notes += fmt.Sprintf(" Needs the capability %s.", row.Capability)
	}
	if row.Alias {
		notes += " An older spelling: accepted from clients, never sent."
	}
	return notes
}

// tag puts a const member in front of an object's own.
func tag(s *node, member, value string) {
	own := s.Properties
	s.Properties = jsonschema.NewProperties()
	s.Properties.Set(member, constString(value))
	for p := own.Oldest(); p != nil; p = p.Next() {
		s.Properties.Set(p.Key, p.Value)
	}
	s.Required = append([]string{member}, s.Required...)
}

// errors defines one error for each code, and the two that a response carries: a
// host answers with a code of the table, a client with any.
func (g *generator) errors() {
	var names []string
	for _, c := range codes() {
		data, required := &node{}, "data?"
		if d, ok := errorData[c]; ok {
			data = ref(g.reflect(d.t))
			if d.required {
				required = "data"
			}
		}
		name := errorName(c)
		g.define(name, object(fmt.Sprintf("%s (%d)", ahp.Codes[c], c),
			"code", &node{Type: "integer", Const: int(c)}, "message", &node{Type: "string"}, required, data))
		names = append(names, name)
	}
	g.oneOf("HostError", "An error that a host answers with, told apart by its code.", names)
	g.reflect(reflect.TypeFor[ahp.Error]())
	g.define("RequestId", &node{
		Description: "The id of a request: chosen by whoever asks, returned as it came.",
		AnyOf:       []*node{{Type: "string"}, {Type: "integer"}},
	})
	g.define("HostErrorResponse", object("The host's answer to a request that failed. The id is null where the request's could not be read.",
		"jsonrpc", constString("2.0"), "id", nullable(ref("RequestId")), "error", ref("HostError")))
	g.define("ErrorResponse", object("A client's answer to a request that failed; its code may be any.",
		"jsonrpc", constString("2.0"), "id", nullable(ref("RequestId")), "error", ref("JsonRpcError")))
}

// messages defines whole JSON-RPC messages, and a union for each direction.
func (g *generator) messages(notifications bool) {
	suffix := map[bool]string{false: "Request", true: "Notification"}[notifications]
	byDirection := map[ahp.Direction][]string{}
	for _, row := range methods() {
		if row.Notification != notifications {
			continue
		}
		name := pascal(row.Name) + suffix
		g.define(name, g.message(row))
		if !notifications {
			g.define(pascal(row.Name)+"Response", g.response(row))
		}
		for _, d := range []ahp.Direction{ahp.ClientToHost, ahp.HostToClient} {
			if row.Direction&d != 0 {
				byDirection[d] = append(byDirection[d], name)
			}
		}
	}
	g.oneOf("Client"+suffix, "What a client sends to a host, told apart by its method.", byDirection[ahp.ClientToHost])
	g.oneOf("Host"+suffix, "What a host sends to a client, told apart by its method.", byDirection[ahp.HostToClient])
}

// carried says which actions the two messages that carry one may carry, by the
// scheme of their channel. A refusal returns what the client sent, whatever it is.
func (g *generator) carried() {
	byScheme(g.defs["DispatchActionParams"], "channel", "action", func(k kind) string { return g.dispatched[k.title] })
	envelope, accepted := g.defs["ActionEnvelope"], &node{}
	byScheme(accepted, "channel", "action", func(k kind) string { return k.title + "Action" })
	envelope.If = object("", "rejectionReason", &node{Type: "string"})
	envelope.Then, envelope.Else = &node{Type: "object"}, accepted
}

func (g *generator) message(row ahp.MethodRow) *node {
	params := g.reflect(row.Params)
	member := "params"
	if len(g.defs[params].Required) == 0 {
		member = "params?"
	}
	s := object(fmt.Sprintf("%s, %s. %s", row.Name, direction(row.Direction), g.about(row)), "jsonrpc", constString("2.0"))
	if !row.Notification {
		s = object(s.Description, "jsonrpc", constString("2.0"), "id", ref("RequestId"))
	}
	s.Properties.Set("method", constString(row.Name))
	s.Properties.Set("params", ref(params))
	s.Required = append(s.Required, "method")
	if member == "params" {
		s.Required = append(s.Required, member)
	}
	return s
}

// about is a method's own comment, or that of its params.
func (g *generator) about(row ahp.MethodRow) string {
	if text := g.src.methods[row.Name]; text != "" {
		return upperFirst(strings.TrimSuffix(text, ".")) + "."
	}
	params := g.name(row.Params)
	return upperFirst(strings.TrimPrefix(g.defs[params].Description, params+" "))
}

// response is the answer to a request that succeeded. Which request it answers
// only its id tells.
func (g *generator) response(row ahp.MethodRow) *node {
	result := &node{Type: "null"}
	switch {
	case row.Result == reflect.TypeFor[ahp.None]():
	case row.Result.Name() == "":
		result = &node{Type: "object"}
	default:
		result = ref(g.reflect(row.Result))
	}
	return object("The answer to "+row.Name+".", "jsonrpc", constString("2.0"), "id", ref("RequestId"), "result", result)
}

// unused names the rules that nothing met, sorted.
func (g *generator) unused() []string {
	var names []string
	for name := range rules {
		if !g.used[name] {
			names = append(names, name)
		}
	}
	for name := range unions {
		if !g.used[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func constString(v string) *node { return &node{Type: "string", Const: v} }

// sentence ends a text so that another can follow.
func sentence(s string) string {
	switch {
	case s == "":
		return ""
	case s[len(s)-1] == '.':
		return s + " "
	}
	return s + ". "
}
