package canvas

import (
	"reflect"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// ChannelKind is what every program that reads the wire needs to know about one
// kind of channel. It holds data and pure functions only: what a host does with
// the kind beyond reducing its actions is in its [channels.Kind].
type ChannelKind struct {
	// Name is the kind's name in fixtures and schemas: "root", "session" or
	// "canvas". Most of its actions have types that begin with it.
	Name string
	// Scheme precedes the colon in the URIs of the kind's channels.
	Scheme string
	// Capability gates the kind: a client that has not declared it sees no such
	// channel. "" gates nothing.
	Capability string
	// Actions are the action types of the kind.
	Actions *ahp.ActionTable
	// State is the Go type of a channel's state.
	State reflect.Type
	// Decode reads a state. The result's type is State.
	Decode func(ahp.Value) (channels.State, error)
	// Reduce applies an action to a state that Decode returned. It is pure.
	Reduce func(channels.State, ahp.Action) (channels.State, channels.Outcome, error)
}

// ChannelKinds lists the channel kinds of this project, in the order in which
// they depend on each other. It is the only such list: a new kind is a row here.
var ChannelKinds = []ChannelKind{
	channelKind[session.RootState]("root", ahp.SchemeRoot, "", session.RootActions, session.ReduceRoot),
	channelKind[session.State]("session", ahp.SchemeSession, "", session.Actions, session.Reduce),
	channelKind[CanvasState]("canvas", ahp.SchemeCanvas, ahp.CapabilityCanvas, Actions, Reduce),
}

func channelKind[S any](
	name, scheme, capability string, actions *ahp.ActionTable,
	reduce func(channels.State, ahp.Action) (channels.State, channels.Outcome, error),
) ChannelKind {
	return ChannelKind{
		Name: name, Scheme: scheme, Capability: capability, Actions: actions,
		State: reflect.TypeFor[S](),
		Decode: func(raw ahp.Value) (channels.State, error) {
			var s S
			err := ahp.Unmarshal(raw, &s)
			return s, err
		},
		Reduce: reduce,
	}
}

// ChannelKindOf returns the kind of the channel that a URI names, or nil if
// [ChannelKinds] has no row for its scheme.
func ChannelKindOf(uri string) *ChannelKind {
	scheme := ahp.SchemeOf(uri)
	return findKind(func(k ChannelKind) bool { return k.Scheme == scheme })
}

// ChannelKindNamed returns the kind with the given [ChannelKind.Name], or nil.
func ChannelKindNamed(name string) *ChannelKind {
	return findKind(func(k ChannelKind) bool { return k.Name == name })
}

func findKind(is func(ChannelKind) bool) *ChannelKind {
	if i := slices.IndexFunc(ChannelKinds, is); i >= 0 {
		return &ChannelKinds[i]
	}
	return nil
}
