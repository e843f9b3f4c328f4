package trace

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Parent identifies a span of another program, as W3C Trace Context does.
type Parent struct {
	trace   [16]byte
	span    [8]byte
	dropped bool // the caller records nothing
}

// Parse reads a traceparent header. It returns false for anything else.
func Parse(header string) (Parent, bool) {
	var p Parent
	var flags [1]byte
	parts := strings.Split(header, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return p, false
	}
	for i, to := range [][]byte{nil, p.trace[:], p.span[:], flags[:]} {
		if i > 0 && !decode(to, parts[i]) {
			return Parent{}, false
		}
	}
	p.dropped = flags[0]&1 == 0
	return p, p.trace != [16]byte{} && p.span != [8]byte{}
}

// decode reads lower-case hexadecimal digits that fill to.
func decode(to []byte, from string) bool {
	if len(from) != 2*len(to) || strings.ToLower(from) != from {
		return false
	}
	_, err := hex.Decode(to, []byte(from))
	return err == nil
}

// FromMeta returns ctx with the parent that the _meta of a request names, or ctx.
func FromMeta(ctx context.Context, meta []byte) context.Context {
	if len(meta) == 0 {
		return ctx
	}
	var named struct {
		Traceparent string `json:"traceparent"`
	}
	if json.Unmarshal(meta, &named) != nil {
		return ctx // also if traceparent is no text
	}
	if p, ok := Parse(named.Traceparent); ok {
		return With(ctx, p)
	}
	return ctx
}

// AddMeta returns a JSON object with the span of ctx as its member traceparent, for the
// _meta of a request to another program. Without a span it returns meta.
func AddMeta(ctx context.Context, meta []byte) []byte {
	header := Header(ctx)
	if header == "" {
		return meta
	}
	member := `{"traceparent":"` + header + `"`
	if rest := bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimSpace(meta), []byte("{")), " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		return append([]byte(member+","), rest...)
	}
	return []byte(member + "}")
}

type contextKey struct{}

// With returns a context whose spans belong to a parent.
func With(ctx context.Context, p Parent) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// Header returns the traceparent header for a request that is made in ctx, or "".
func Header(ctx context.Context) string {
	p, ok := ctx.Value(contextKey{}).(Parent)
	if !ok {
		return ""
	}
	flags := "01"
	if p.dropped {
		flags = "00"
	}
	return "00-" + hex.EncodeToString(p.trace[:]) + "-" + hex.EncodeToString(p.span[:]) + "-" + flags
}

// Span is one piece of work. One goroutine uses it.
type Span struct {
	tracer     *Tracer
	self       Parent
	parent     [8]byte
	name       string
	start      time.Time
	attributes []attribute
}

type attribute struct{ key, value string }

// Start begins a span. Its parent is the span of ctx, if ctx has one. The caller must End
// it.
func (t *Tracer) Start(ctx context.Context, name string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	above, known := ctx.Value(contextKey{}).(Parent)
	if known && above.dropped {
		return ctx, nil
	}
	s := &Span{tracer: t, self: above, parent: above.span, name: name, start: t.now()}
	if !known {
		_, _ = rand.Read(s.self.trace[:]) // never fails
	}
	_, _ = rand.Read(s.self.span[:])
	return With(ctx, s.self), s
}

// Set adds an attribute, unless it is empty.
func (s *Span) Set(key, value string) {
	if s != nil && value != "" {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// End ends the span. code is the code of the error with which the work failed, "" for
// success.
func (s *Span) End(code string) {
	if s == nil {
		return
	}
	s.Set("error.type", code)
	now := s.tracer.now()
	s.tracer.durations.note(s.name, s.self.trace, s.start, now)
	s.tracer.add(s.encode(now, code != ""))
}
