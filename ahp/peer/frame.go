package peer

import (
	"iter"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Frame is one complete JSON text on its way to one or many peers. Bytes may
// encode it on the first call; it is called by writers, concurrently, outside
// all locks, and its result is not changed by anybody. Size is the length in
// bytes where it is known without encoding, and 0 where it is not. A long frame of
// one peer may have a method Written too: it is called once, when its bytes are
// needed no more, and never where the connection ends before.
type Frame interface {
	Bytes() []byte
	Size() int
}

// told is a frame that hears that it was written.
type told interface{ Written() }

const toldFrom = 16 << 10 // bytes; it is not worth asking shorter ones

// tell is called when a frame's n bytes are on their way.
func tell(f Frame, n int) {
	if n < toldFrom {
		return
	}
	if t, ok := f.(told); ok {
		t.Written()
	}
}

// Shared are messages that go to many peers, one behind the other. Framed returns
// what frame makes of them: once, for all the peers, by whoever needs it first.
type Shared interface {
	Messages() [][]byte
	Size() int // of the messages, in bytes
	Framed(frame func(messages [][]byte) []byte) []byte
}

// together is a Shared in the queue of a peer whose frames are not masked. Its
// bytes are no JSON text but frames of the WebSocket.
type together struct{ Shared }

func (t together) Bytes() []byte { return t.Framed(ws.Framed) }

func isFramed(f Frame) bool {
	_, ok := f.(together)
	return ok
}

// joined is a frame of one peer whose parts lie in many places. A host writes it piece
// by piece, so that the other side reads its beginning while its end is gathered.
type joined struct {
	size  int // of the parts, in bytes
	parts iter.Seq[[]byte]
}

func (j joined) Bytes() []byte {
	b := make([]byte, 0, j.size)
	for part := range j.parts {
		b = append(b, part...)
	}
	return b
}

func (j joined) Size() int { return 0 }

// asJoined is what such a frame is made of.
func asJoined(f Frame) (j joined, ok bool) {
	if e, is := f.(exempt); is {
		j, ok = e.Frame.(joined)
	}
	return j, ok
}

// text is a frame that is encoded already.
type text []byte

func (t text) Bytes() []byte { return t }
func (t text) Size() int     { return len(t) }

// lazy is a frame of one peer that the writer encodes.
type lazy func() []byte

func (f lazy) Bytes() []byte { return f() }
func (f lazy) Size() int     { return 0 }

const (
	versionMember = `{"jsonrpc":"2.0",`
	nullID        = "null"
)

// appendResult appends a response up to its result.
func appendResultHead(b []byte, id []byte) []byte {
	b = append(b, versionMember+`"id":`...)
	b = append(b, id...)
	return append(b, `,"result":`...)
}

// resultFrame is a complete response; a nil result is an explicit null, for a
// response without a result member hangs clients.
func resultFrame(id []byte, result ahp.Value) text {
	if len(result) == 0 {
		result = ahp.Null
	}
	b := make([]byte, 0, len(versionMember)+5+len(id)+10+len(result)+1)
	b = appendResultHead(b, id)
	b = append(b, result...)
	return append(b, '}')
}

// errorFrame is a complete error response.
func errorFrame(id []byte, e *ahp.Error) text {
	body := ahp.MustMarshal(e)
	b := make([]byte, 0, len(versionMember)+5+len(id)+9+len(body)+1)
	b = append(b, versionMember+`"id":`...)
	b = append(b, id...)
	b = append(b, `,"error":`...)
	b = append(b, body...)
	return append(b, '}')
}

// methodFrame is a complete request, or a notification where id is nil.
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

// Notification makes the frame of a notification, to be pushed to many peers.
func Notification(method string, params any) (Frame, error) {
	raw, err := encodeParams(params)
	if err != nil {
		return nil, err
	}
	return methodFrame(nil, method, raw), nil
}

// encodeParams takes a Value as it is; nil leaves the member out.
func encodeParams(params any) (ahp.Value, error) {
	switch v := params.(type) {
	case nil:
		return nil, nil
	case ahp.Value:
		return v, nil
	}
	return ahp.Marshal(params)
}
