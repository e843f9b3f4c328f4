package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/docs"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// protocol returns the tables of the messages for the documentation.
func protocol() (p docs.Protocol) {
	for _, row := range slices.Concat(ahp.Methods, session.Methods, canvas.Methods) {
		p.Methods = append(p.Methods, docs.Method{Name: row.Name, Direction: direction(row), Members: members(row.Params)})
	}
	for _, kind := range canvas.ChannelKinds {
		c := docs.Channel{Name: kind.Name, Scheme: kind.Scheme, Members: members(kind.State)}
		for _, row := range kind.Actions.Rows() {
			if !row.Alias {
				c.Actions = append(c.Actions, docs.Method{Name: row.Type, Direction: senders(row.From), Members: members(row.GoType)})
			}
		}
		p.Channels = append(p.Channels, c)
	}
	for _, code := range slices.Backward(slices.Sorted(maps.Keys(ahp.Codes))) {
		p.Codes = append(p.Codes, docs.Method{Name: fmt.Sprint(int(code), " ", ahp.Codes[code])})
	}
	return p
}

func direction(row ahp.MethodRow) string {
	text := map[ahp.Direction]string{ahp.ClientToHost: "client to host", ahp.HostToClient: "host to client"}[row.Direction]
	if text == "" {
		text = "both ways"
	}
	if row.Notification {
		text += ", notification"
	}
	return text
}

func senders(from ahp.Senders) string {
	var who []string
	for i, bit := range []ahp.Senders{ahp.FromHost, ahp.FromClient, ahp.FromProvider} {
		if from&bit != 0 {
			who = append(who, []string{"host", "client", "provider"}[i])
		}
	}
	return strings.Join(who, " or ")
}

// members returns the names of a type's members on the wire; those that can be absent end
// in "?".
func members(t reflect.Type) (names []string) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, members(f.Type)...)
		case !f.IsExported() || name == "" || name == "-":
		case strings.Contains(options, "omitzero"):
			names = append(names, name+"?")
		default:
			names = append(names, name)
		}
	}
	return names
}
