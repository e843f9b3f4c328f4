package session

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The catalogue of open canvases is sent whole at every change, and most of its
// entries are the same as before. So an entry keeps its encoding, and what it was
// when it was encoded: a copy that was changed since is encoded anew.

type encodedRef struct {
	of    OpenCanvasRef
	bytes ahp.Value
}

// Encoded returns the entry with its encoding beside it, which it keeps for as long
// as nobody changes a member.
func (r OpenCanvasRef) Encoded() OpenCanvasRef {
	r.encoded = &encodedRef{of: r, bytes: ahp.MustMarshal(r)}
	r.encoded.of.encoded = nil
	return r
}

// bytes is the entry as it goes over the wire.
func (r *OpenCanvasRef) bytes() ahp.Value {
	if r.encoded != nil && r.unchanged(&r.encoded.of) {
		return r.encoded.bytes
	}
	return ahp.MustMarshal(r)
}

// unchanged compares where a title is, not what it is: titles are never changed in
// place, and equal ones in two places are only encoded once too often.
func (r *OpenCanvasRef) unchanged(o *OpenCanvasRef) bool {
	return r.InstanceID == o.InstanceID && r.Channel == o.Channel && r.CanvasID == o.CanvasID &&
		r.ExtensionID == o.ExtensionID && r.ExtensionName == o.ExtensionName &&
		r.Title == o.Title && r.Availability == o.Availability && r.Extra == nil && o.Extra == nil
}

// AppendMembers implements [ahp.MembersAppender].
func (a OpenCanvasesChanged) AppendMembers(b []byte) []byte {
	const head = `"openCanvases":[`
	size := len(head) + 2
	for i := range a.OpenCanvases {
		if e := a.OpenCanvases[i].encoded; e != nil {
			size += len(e.bytes) + 1
		}
	}
	b = append(slices.Grow(b, size), head...)
	for i := range a.OpenCanvases {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, a.OpenCanvases[i].bytes()...)
	}
	return append(b, ']')
}
