package peer

import (
	"iter"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Frame is one complete JSON text for one or many peers.
//
// A frame for one peer may also have a method Written(). For a long frame it is
// called once its bytes are not needed any more, unless the connection ends before.
type Frame interface {
	// Bytes returns the text. It might encode it first. Writers call it
	// concurrently, without locks, and do not change the result.
	Bytes() []byte
	// Size returns the number of bytes, or 0 if it is not known before encoding.
	Size() int
}

// writtenNotifier is a frame that is notified when it has been written.
type writtenNotifier interface{ Written() }

const notifyFrom = 16 << 10 // bytes; shorter frames are not notified

// notifyWritten notifies a frame whose n bytes have been written.
func notifyWritten(f Frame, n int) {
	if n < notifyFrom {
		return
	}
	if t, ok := f.(writtenNotifier); ok {
		t.Written()
	}
}

// Shared is a list of messages for many peers.
type Shared interface {
	// Messages returns the JSON texts, in their order.
	Messages() [][]byte
	// Size returns the number of bytes of all messages.
	Size() int
	// Framed returns frame(Messages()). It calls frame once, for the first peer that
	// needs the result.
	Framed(frame func(messages [][]byte) []byte) []byte
}

// framedShared is a Shared in the queue of a peer that does not mask. Its bytes are
// WebSocket frames, not a JSON text.
type framedShared struct{ Shared }

func (t framedShared) Bytes() []byte { return t.Framed(ws.Framed) }

func isFramed(f Frame) bool {
	_, ok := f.(framedShared)
	return ok
}

// partsFrame is a frame of one peer in several parts. A host writes them one by one,
// so that the other side can read the beginning before the end is collected.
type partsFrame struct {
	size  int // of all parts, in bytes
	parts iter.Seq[[]byte]
}

func (j partsFrame) Bytes() []byte {
	b := make([]byte, 0, j.size)
	for part := range j.parts {
		b = append(b, part...)
	}
	return b
}

func (j partsFrame) Size() int { return 0 }

// asParts returns the partsFrame inside f. It makes a lazy one.
func asParts(f Frame) (j partsFrame, ok bool) {
	if e, is := f.(exempt); is {
		switch parts := e.Frame.(type) {
		case partsFrame:
			return parts, true
		case lazyParts:
			return parts(), true
		}
	}
	return j, false
}

// inParts reports whether f is a partsFrame, or will be.
func inParts(f Frame) bool {
	e, ok := f.(exempt)
	if !ok {
		return false
	}
	switch e.Frame.(type) {
	case partsFrame, lazyParts:
		return true
	}
	return false
}

// lazyParts is a partsFrame that the writer makes when its turn comes.
type lazyParts func() partsFrame

func (f lazyParts) Bytes() []byte { return f().Bytes() }
func (f lazyParts) Size() int     { return 0 }

// text is an encoded frame.
type text []byte

func (t text) Bytes() []byte { return t }
func (t text) Size() int     { return len(t) }

// lazy is a frame of one peer that the writer encodes when its turn comes.
type lazy func() []byte

func (f lazy) Bytes() []byte { return f() }
func (f lazy) Size() int     { return 0 }

const (
	versionMember = `{"jsonrpc":"2.0",`
	nullID        = "null"
)

// appendResultHead appends a response up to its result.
func appendResultHead(b []byte, id []byte) []byte {
	b = append(b, versionMember+`"id":`...)
	b = append(b, id...)
	return append(b, `,"result":`...)
}

// resultFrame returns a response. A nil result becomes null, because clients wait
// forever for a response without a result member.
func resultFrame(id []byte, result ahp.Value) text {
	if len(result) == 0 {
		result = ahp.Null
	}
	b := make([]byte, 0, len(versionMember)+5+len(id)+10+len(result)+1)
	b = appendResultHead(b, id)
	b = append(b, result...)
	return append(b, '}')
}

// errorFrame returns an error response.
func errorFrame(id []byte, e *ahp.Error) text {
	body := ahp.MustMarshal(e)
	b := make([]byte, 0, len(versionMember)+5+len(id)+9+len(body)+1)
	b = append(b, versionMember+`"id":`...)
	b = append(b, id...)
	b = append(b, `,"error":`...)
	b = append(b, body...)
	return append(b, '}')
}

// methodFrame returns a request, or a notification if id is nil.
func methodFrame(id []byte, method string, params ahp.Value) text {
	name := ahp.MustMarshal(method)
	b := make([]byte, 0, len(versionMember)+6+len(id)+10+len(name)+10+len(params)+1)
	b = append(b, versionMember...)
	if id != nil {
		b = append(b, `"id":`...)
		b = append(b, id...)
		b = append(b, ',')
	}
	b = append(b, `"method":`...)
	b = append(b, name...)
	if params != nil {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

// Notification returns the frame of a notification, to push to any number of peers.
func Notification(method string, params any) (Frame, error) {
	raw, err := encodeParams(params)
	if err != nil {
		return nil, err
	}
	return methodFrame(nil, method, raw), nil
}

// encodeParams encodes params or a result. An ahp.Value is returned unchanged, and
// nil stands for an absent member.
func encodeParams(params any) (ahp.Value, error) {
	switch v := params.(type) {
	case nil:
		return nil, nil
	case ahp.Value:
		return v, nil
	}
	return ahp.Marshal(params)
}
