package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

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
	r.encoded = &encodedRef{of: r, bytes: r.appendTo(make([]byte, 0, 256))}
	r.encoded.of.encoded = nil
	return r
}

// appendTo appends what the encoder would write.
func (r *OpenCanvasRef) appendTo(b []byte) []byte {
	if r.Extra != nil {
		return append(b, ahp.MustMarshal(r)...)
	}
	b = ahp.AppendString(append(b, `{"instanceId":`...), r.InstanceID)
	b = ahp.AppendString(append(b, `,"channel":`...), r.Channel)
	b = ahp.AppendString(append(b, `,"canvasId":`...), r.CanvasID)
	b = ahp.AppendString(append(b, `,"extensionId":`...), r.ExtensionID)
	if r.ExtensionName != "" {
		b = ahp.AppendString(append(b, `,"extensionName":`...), r.ExtensionName)
	}
	if r.Title != nil {
		b = ahp.AppendString(append(b, `,"title":`...), *r.Title)
	}
	return append(ahp.AppendString(append(b, `,"availability":`...), string(r.Availability)), '}')
}

// appendEncoded appends the entry as it goes over the wire.
func (r *OpenCanvasRef) appendEncoded(b []byte) []byte {
	if r.encoded != nil && r.unchanged(&r.encoded.of) {
		return append(b, r.encoded.bytes...)
	}
	return r.appendTo(b)
}

// unchanged compares where a title is, not what it is: titles are never changed in
// place, and equal ones in two places are only encoded once too often.
func (r *OpenCanvasRef) unchanged(o *OpenCanvasRef) bool {
	return r.InstanceID == o.InstanceID && r.Channel == o.Channel && r.CanvasID == o.CanvasID &&
		r.ExtensionID == o.ExtensionID && r.ExtensionName == o.ExtensionName &&
		r.Title == o.Title && r.Availability == o.Availability && r.Extra == nil && o.Extra == nil
}

const openCanvasesHead = `{"type":"session/openCanvasesChanged","openCanvases":[`

// EncodedSize implements [ahp.Encoded].
func (a OpenCanvasesChanged) EncodedSize() int {
	size := len(openCanvasesHead) + len("]}")
	for i := range a.OpenCanvases {
		if e := a.OpenCanvases[i].encoded; e != nil {
			size += len(e.bytes) + 1
		}
	}
	return size
}

// AppendEncoded implements [ahp.Encoded].
func (a OpenCanvasesChanged) AppendEncoded(b []byte) []byte {
	b = append(b, openCanvasesHead...)
	for i := range a.OpenCanvases {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.OpenCanvases[i].appendEncoded(b)
	}
	return append(b, "]}"...)
}
