package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// build makes the definitions, file by file. A type belongs to the first file
// that needs it.
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

// actions defines the actions of a kind: <Kind>Action for what a host sends,
// and <Kind>ClientAction for what a client may dispatch, which includes older
// spellings. If the two are the same, there is no <Kind>ClientAction, because
// code generators merge definitions of the same shape.
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
	g.oneOf(k.title+"Action", fmt.Sprintf("An action of an %s: channel, identified by its type.", k.Scheme), sent)
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

// clearable makes the optional members of an action nullable: null and absent
// both clear (ahp/PROTOCOL.md section 3c). Elsewhere an optional member is
// never null.
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
		notes += fmt.Sprintf(" Requires the capability %s.", row.Capability)
	}
	if row.Alias {
		notes += " An older spelling that a host accepts from clients and never sends."
	}
	return notes
}

// tag inserts a const member before an object's other members.
func tag(s *node, member, value string) {
	own := s.Properties
	s.Properties = jsonschema.NewProperties()
	s.Properties.Set(member, constString(value))
	for p := own.Oldest(); p != nil; p = p.Next() {
		s.Properties.Set(p.Key, p.Value)
	}
	s.Required = append([]string{member}, s.Required...)
}

// errors defines an error for each code, and the error responses of hosts and
// clients. A host uses the codes of the table, a client any code.
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
	g.oneOf("HostError", "An error that a host returns, identified by its code.", names)
	g.reflect(reflect.TypeFor[ahp.Error]())
	g.define("RequestId", &node{
		Description: "The id of a request, chosen by its sender and repeated in the response as it was written: 1.0 stays 1.0. A string or number of at most 256 bytes.",
		AnyOf:       []*node{{Type: "string"}, {Type: "number"}},
	})
	g.define("HostErrorResponse", object("The host's response to a request that failed. The id is null if that of the request could not be read.",
		"jsonrpc", constString("2.0"), "id", nullable(ref("RequestId")), "error", ref("HostError")))
	g.define("ErrorResponse", object("A client's response to a request that failed. Its code can be any.",
		"jsonrpc", constString("2.0"), "id", nullable(ref("RequestId")), "error", ref("JsonRpcError")))
}

// byMethod ends the description of every union of messages.
const byMethod = ", identified by its method."

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
	g.oneOf("Client"+suffix, "A message from a client to a host"+byMethod, byDirection[ahp.ClientToHost])
	g.oneOf("Host"+suffix, "A message from a host to a client"+byMethod, byDirection[ahp.HostToClient])
}

// carried restricts the actions of dispatchAction and of envelopes by the
// scheme of their channel. A rejected envelope returns what the client sent, so
// it is not restricted.
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

// about returns the comment of a method, or that of its params.
func (g *generator) about(row ahp.MethodRow) string {
	if text := g.src.methods[row.Name]; text != "" {
		return upperFirst(strings.TrimSuffix(text, ".")) + "."
	}
	params := g.name(row.Params)
	return upperFirst(strings.TrimPrefix(g.defs[params].Description, params+" "))
}

// response defines the response to a request that succeeded. Only its id
// identifies the request.
func (g *generator) response(row ahp.MethodRow) *node {
	result := &node{Type: "null"}
	switch {
	case row.Result == reflect.TypeFor[ahp.None]():
	case row.Result.Name() == "":
		result = &node{Type: "object"}
	default:
		result = ref(g.reflect(row.Result))
	}
	return object("The response to "+row.Name+".", "jsonrpc", constString("2.0"), "id", ref("RequestId"), "result", result)
}

// unused returns the names of rules that matched nothing, sorted.
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
