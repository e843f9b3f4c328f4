package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// encodedRef is the encoding of a catalog entry, and a copy of the entry when it was
// encoded. The whole catalog is sent at every change, and most of its entries have not
// changed; an entry that has changed is encoded again.
type encodedRef struct {
	of    OpenCanvasRef
	bytes ahp.Value
}

// Encoded returns a copy of the entry that caches its encoding. The cache is not used
// once a member has changed.
func (r OpenCanvasRef) Encoded() OpenCanvasRef {
	r.encoded = &encodedRef{of: r, bytes: r.appendTo(make([]byte, 0, 256))}
	r.encoded.of.encoded = nil
	return r
}

// appendTo appends the encoding of the entry.
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

// appendEncoded appends the cached encoding of the entry, or encodes it.
func (r *OpenCanvasRef) appendEncoded(b []byte) []byte {
	if r.encoded != nil && r.unchanged(&r.encoded.of) {
		return append(b, r.encoded.bytes...)
	}
	return r.appendTo(b)
}

// unchanged reports whether the entry equals o. It compares the pointers of titles,
// because a title is never changed in place.
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
