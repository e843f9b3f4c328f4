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

// kind is a channel kind with the name that its definitions have.
type kind struct {
	canvas.ChannelKind
	title string // begins the names of its definitions: <title>State and <title>Action
}

// kinds are the rows of canvas.ChannelKinds.
var kinds = titled(canvas.ChannelKinds)

func titled(rows []canvas.ChannelKind) []kind {
	list := make([]kind, len(rows))
	for i, row := range rows {
		list[i] = kind{row, pascal(row.Name)}
	}
	return list
}

// methods returns the methods of all packages, in the order of their tables.
func methods() []ahp.MethodRow {
	return slices.Concat(ahp.Methods, session.Methods, canvas.Methods)
}

// errorData has the type of an error's data by code; required is true if the
// data is always present.
var errorData = map[ahp.Code]struct {
	t        reflect.Type
	required bool
}{
	ahp.CodeUnsupportedProtocolVersion: {reflect.TypeFor[ahp.UnsupportedVersionData](), true},
	ahp.CodeCanvasProvider:             {reflect.TypeFor[ahp.ProviderErrorData](), true},
	ahp.CodeAlreadyExists:              {reflect.TypeFor[ahp.ProviderErrorData](), false},
}

// codes returns the error codes in descending order, so that JSON-RPC's own are
// last.
func codes() []ahp.Code {
	return slices.SortedFunc(maps.Keys(ahp.Codes), func(a, b ahp.Code) int { return cmp.Compare(b, a) })
}

// errorName returns the definition name of an error code, such as
// NotFoundError.
func errorName(c ahp.Code) string {
	return strings.TrimSuffix(ahp.Codes[c], "Error") + "Error"
}

// pascal converts a name on the wire to a definition name:
// "session/titleChanged" becomes SessionTitleChanged. The host's own methods have names
// that begin with "x-ahp-", which no language allows in a type.
func pascal(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(name, "x-ahp-"), "/") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// actionName returns the definition name of an action type.
func actionName(tag string) string { return pascal(tag) + "Action" }

// senders returns who may dispatch an action, in words.
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

// direction returns which peer sends a method, in words.
func direction(d ahp.Direction) string {
	switch d {
	case ahp.ClientToHost:
		return "client to host"
	case ahp.HostToClient:
		return "host to client"
	}
	return "both ways"
}
