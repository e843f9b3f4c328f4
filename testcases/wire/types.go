package wire

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// StateAction is the type name of an action of any channel. Its "type" member
// determines the shape; with an unknown type it can have any.
const StateAction = "StateAction"

// named are the types that are in no method table.
var named = []any{
	ahp.ActionEnvelope{}, ahp.Origin{}, ahp.Snapshot{}, ahp.Error{}, ahp.UnsupportedVersionData{}, ahp.ProviderErrorData{},
	session.RootState{}, session.State{}, canvas.CanvasState{}, session.AgentInfo{}, session.Config{}, session.Customization{}, session.SessionSummary{},
	session.PartialSessionSummary{}, session.SessionActiveClient{}, session.ToolDefinition{}, session.ChatSummary{}, session.SessionCanvasDeclaration{},
	session.SessionCanvasAction{}, session.ClientCanvasDeclaration{}, session.CanvasProviderSource{}, session.OpenCanvasRef{},
}

// protocolNames are the protocol's names of types that have another name in Go.
var protocolNames = map[string]string{"State": "SessionState", "Error": "JsonRpcError"}

// Methods returns the rows of all method tables.
func Methods() []ahp.MethodRow {
	return slices.Concat(ahp.Methods, session.Methods, canvas.Methods)
}

// Tables returns the action table of each channel kind, by the kind's name in
// fixtures.
func Tables() map[string]*ahp.ActionTable {
	tables := map[string]*ahp.ActionTable{}
	for _, k := range canvas.ChannelKinds {
		tables[k.Name] = k.Actions
	}
	return tables
}

// Types returns the types that have a name in the protocol, by that name.
// Actions are one type, [StateAction].
func Types() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	add := func(t reflect.Type) {
		if t == nil || t.Name() == "" || t == reflect.TypeFor[ahp.None]() {
			return // no params, or a result that is {} or null
		}
		name := t.Name()
		if other, ok := protocolNames[name]; ok {
			name = other
		}
		types[name] = t
	}
	for _, v := range named {
		add(reflect.TypeOf(v))
	}
	for _, m := range Methods() {
		add(m.Params)
		add(m.Result)
	}
	return types
}

// Names returns the names that [RoundTrip] accepts, sorted.
func Names() []string {
	return append(slices.Sorted(maps.Keys(Types())), StateAction)
}

// Keeps reports whether a type keeps unknown members. Types in a channel's
// state do; params and results do not.
func Keeps(name string) bool {
	t, ok := Types()[name]
	if !ok {
		return false
	}
	if t == reflect.TypeFor[session.Customization]() {
		return true
	}
	for f := range t.Fields() {
		if f.Type == reflect.TypeFor[ahp.Value]() && strings.Contains(f.Tag.Get("json"), ",embed") {
			return true
		}
	}
	return false
}

// RoundTrip decodes a value as the named type and encodes it again.
func RoundTrip(name string, in ahp.Value) (ahp.Value, error) {
	if name == StateAction {
		return roundTripAction(in)
	}
	t, ok := Types()[name]
	if !ok {
		return nil, fmt.Errorf("the protocol has no type %q", name)
	}
	v := reflect.New(t)
	if err := ahp.Unmarshal(in, v.Interface()); err != nil {
		return nil, err
	}
	return ahp.Marshal(v.Interface())
}

// roundTripAction encodes the decoded payload, as the host does for its own
// actions. An action of an unknown type is returned unchanged.
func roundTripAction(in ahp.Value) (ahp.Value, error) {
	tag, err := ahp.ActionTag(in)
	if err != nil {
		return nil, err
	}
	for _, table := range Tables() {
		if table.Row(tag) == nil {
			continue
		}
		read, err := table.Decode(in)
		if err != nil {
			return nil, err
		}
		written, err := table.Encode(read.Action)
		if err != nil {
			return nil, err
		}
		return written.Bytes(), nil
	}
	return in, nil
}
