package schema

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// kind is a channel kind with the names of its definitions.
type kind struct {
	canvas.ChannelKind
	title string // begins the names of its definitions: <title>State, <title>Action
}

// kinds are the rows of [canvas.ChannelKinds].
var kinds = titled(canvas.ChannelKinds)

func titled(rows []canvas.ChannelKind) []kind {
	list := make([]kind, len(rows))
	for i, row := range rows {
		list[i] = kind{row, pascal(row.Name)}
	}
	return list
}

// methods returns the tables of all packages, in their order.
func methods() []ahp.MethodRow {
	return slices.Concat(ahp.Methods, session.Methods, canvas.Methods)
}

// errorData is the type of an error's data, by code; true says that it is
// always there.
var errorData = map[ahp.Code]struct {
	t        reflect.Type
	required bool
}{
	ahp.CodeUnsupportedProtocolVersion: {reflect.TypeFor[ahp.UnsupportedVersionData](), true},
	ahp.CodeCanvasProvider:             {reflect.TypeFor[ahp.ProviderErrorData](), true},
	ahp.CodeAlreadyExists:              {reflect.TypeFor[ahp.ProviderErrorData](), false},
}

// codes returns the error codes from the highest down: JSON-RPC's own come last.
func codes() []ahp.Code {
	return slices.SortedFunc(maps.Keys(ahp.Codes), func(a, b ahp.Code) int { return cmp.Compare(b, a) })
}

// errorName is the definition of an error code: NotFoundError, ParseError.
func errorName(c ahp.Code) string {
	return strings.TrimSuffix(ahp.Codes[c], "Error") + "Error"
}

// pascal turns a name of the wire into the name of a definition:
// "session/titleChanged" is SessionTitleChanged.
func pascal(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "/") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// actionName is the definition of an action type.
func actionName(tag string) string { return pascal(tag) + "Action" }

// senders says in words who may dispatch a row.
func senders(row *ahp.ActionRow) string {
	var who []string
	for _, s := range []struct {
		bit  ahp.Senders
		name string
	}{{ahp.FromHost, "host"}, {ahp.FromClient, "client"}, {ahp.FromProvider, "provider"}} {
		if row.From&s.bit != 0 {
			who = append(who, s.name)
		}
	}
	return strings.Join(who, ", ")
}

// direction says in words which peer sends a method.
func direction(d ahp.Direction) string {
	switch d {
	case ahp.ClientToHost:
		return "client to host"
	case ahp.HostToClient:
		return "host to client"
	}
	return "both ways"
}
