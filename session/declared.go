package session

import (
	"bytes"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// encodedDeclaration is the encoding of an entry of the registry, and a copy of the entry
// when it was encoded.
type encodedDeclaration struct {
	of    SessionCanvasDeclaration
	bytes ahp.Value
}

// Encoded returns a copy of the entry that caches its encoding: the whole registry is sent
// at every change, and most of it has not changed. The cache is not used once a member has
// changed.
func (d SessionCanvasDeclaration) Encoded() SessionCanvasDeclaration {
	d.encoded = nil
	d.encoded = &encodedDeclaration{of: d, bytes: ahp.MustMarshal(d)}
	return d
}

// Same reports whether two entries have the same members.
func (d *SessionCanvasDeclaration) Same(o *SessionCanvasDeclaration) bool {
	if d.encoded != nil && d.encoded == o.encoded {
		return true
	}
	if d.ExtensionID != o.ExtensionID || d.ExtensionName != o.ExtensionName || d.CanvasID != o.CanvasID ||
		d.DisplayName != o.DisplayName || d.Description != o.Description || d.Source != o.Source ||
		!bytes.Equal(d.InputSchema, o.InputSchema) || !bytes.Equal(d.Extra, o.Extra) || len(d.Actions) != len(o.Actions) {
		return false
	}
	for i := range d.Actions {
		a, b := &d.Actions[i], &o.Actions[i]
		if a.Name != b.Name || a.Description != b.Description || !bytes.Equal(a.InputSchema, b.InputSchema) || !bytes.Equal(a.Extra, b.Extra) {
			return false
		}
	}
	return true
}

// unchanged reports whether the entry is what was encoded. It compares what an entry
// shares with its copy by place.
func (d *SessionCanvasDeclaration) unchanged() bool {
	o := &d.encoded.of
	return d.ExtensionID == o.ExtensionID && d.ExtensionName == o.ExtensionName && d.CanvasID == o.CanvasID &&
		d.DisplayName == o.DisplayName && d.Description == o.Description && d.Source == o.Source &&
		samePlace(d.InputSchema, o.InputSchema) && samePlace(d.Extra, o.Extra) && samePlace(d.Actions, o.Actions)
}

func samePlace[S ~[]E, E any](a, b S) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

const canvasesHead = `{"type":"session/canvasesChanged","canvases":[`

// EncodedSize implements [ahp.Encoded].
func (a CanvasesChanged) EncodedSize() int {
	size := len(canvasesHead) + len("]}")
	for i := range a.Canvases {
		if e := a.Canvases[i].encoded; e != nil {
			size += len(e.bytes) + 1
		}
	}
	return size
}

// AppendEncoded implements [ahp.Encoded].
func (a CanvasesChanged) AppendEncoded(b []byte) []byte {
	b = append(b, canvasesHead...)
	for i := range a.Canvases {
		if i > 0 {
			b = append(b, ',')
		}
		d := &a.Canvases[i]
		if d.encoded != nil && d.unchanged() {
			b = append(b, d.encoded.bytes...)
		} else {
			b = append(b, ahp.MustMarshal(d)...)
		}
	}
	return append(b, "]}"...)
}
