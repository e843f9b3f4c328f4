package schema_test

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// These tests compare the schemas with the Go types: a schema must refuse exactly
// the messages that the Go types refuse.

// tables has the action tables by the name that definitions have for their
// kind.
var tables = func() map[string]*ahp.ActionTable {
	byName := map[string]*ahp.ActionTable{}
	for _, k := range canvas.ChannelKinds {
		byName[strings.ToUpper(k.Name[:1])+k.Name[1:]] = k.Actions
	}
	return byName
}()

// knows reports whether the Go types accept a published action of a channel.
func knows(channel string, action ahp.Value) bool {
	kind := canvas.ChannelKindOf(channel)
	if kind == nil {
		return true
	}
	_, err := kind.Actions.Decode(action)
	return err == nil
}

// dispatchable reports whether a client may dispatch the action.
func dispatchable(channel string, action ahp.Value) bool {
	kind := canvas.ChannelKindOf(channel)
	if kind == nil {
		return true
	}
	row := kind.Actions.Row(tagOf(action))
	return knows(channel, action) && row.From&(ahp.FromClient|ahp.FromProvider) != 0
}

// fits reports whether a value can be decoded as a type, including the actions
// and states that it contains.
func fits(t reflect.Type, raw ahp.Value) bool {
	v := reflect.New(t)
	if ahp.Unmarshal(raw, v.Interface()) != nil {
		return false
	}
	if p, ok := v.Elem().Interface().(ahp.Validator); ok && p.Validate() != nil {
		return false
	}
	switch v := v.Elem().Interface().(type) {
	case ahp.DispatchActionParams:
		return dispatchable(v.Channel, v.Action)
	case ahp.InitializeParams:
		_, err := v.Capabilities.Set()
		return err == nil
	case session.CreateSessionParams: // the service's checks of the shape
		return ahp.SchemeOf(v.Channel) == ahp.SchemeSession && len(v.Channel) <= ahp.MaxURI
	case ahp.ActionEnvelope:
		return v.RejectionReason != "" || knows(v.Channel, v.Action)
	case ahp.Snapshot:
		kind := canvas.ChannelKindOf(v.Resource)
		return kind == nil || fits(kind.State, v.State)
	case ahp.InitializeResult:
		return allFit(v.Snapshots)
	case ahp.SubscribeResult:
		return v.Snapshot == nil || fits(reflect.TypeFor[ahp.Snapshot](), ahp.MustMarshal(v.Snapshot))
	case ahp.ReconnectResult:
		return allFit(v.Actions) && allFit(v.Snapshots)
	}
	return true
}

func allFit[T any](list []T) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !fits(reflect.TypeFor[T](), ahp.MustMarshal(v)) })
}

// message reports whether the Go types accept a peer's request or notification.
func message(f frame, from ahp.Direction) bool {
	i := slices.IndexFunc(methods, func(m ahp.MethodRow) bool {
		return m.Name == unquote(f.Method) && m.Direction&from != 0 && m.Notification == (f.ID == nil)
	})
	if unquote(f.JSONRPC) != "2.0" || i < 0 || f.ID != nil && !idKind(f.ID) {
		return false
	}
	params := f.Params
	if params == nil {
		params = ahp.Value("{}")
	}
	return fits(methods[i].Params, params)
}

// result reports whether the Go types accept a method's result.
func result(method string, raw ahp.Value) bool {
	i := slices.IndexFunc(methods, func(m ahp.MethodRow) bool { return m.Name == method })
	return i >= 0 && fits(methods[i].Result, raw)
}

func idKind(id ahp.Value) bool {
	return id.Kind() == '"' || id.Kind() == '0'
}

var methods = slices.Concat(ahp.Methods, session.Methods, canvas.Methods)
