package mcp

import (
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// DecodeAll decodes data as the arguments of every tool.
func DecodeAll(data []byte) []*canvas.Error {
	var l listArgs
	var o openArgs
	var i invokeArgs
	var c closeArgs
	var w waitArgs
	var all []*canvas.Error
	for _, err := range []error{
		decode(ahp.Value(data), &l, &l.Unknown), decode(ahp.Value(data), &o, &o.Unknown),
		decode(ahp.Value(data), &i, &i.Unknown), decode(ahp.Value(data), &c, &c.Unknown),
		decode(ahp.Value(data), &w, &w.Unknown),
	} {
		e, _ := errors.AsType[*canvas.Error](err)
		if err != nil && e == nil {
			e = &canvas.Error{Code: "uncoded", Message: err.Error()}
		}
		all = append(all, e)
	}
	return all
}

// Sessions returns how many MCP sessions there are.
func (s *Server) Sessions() (n int) {
	for range s.mcp.Sessions() {
		n++
	}
	return n
}
