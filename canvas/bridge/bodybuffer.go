package bridge

import (
	"errors"
	"io"
	"sync"
)

// bodyBuffer holds the received part of a body that is not read yet. It is the
// io.ReadCloser of the app's transport or of a client's response. It holds at most one
// window, because a sender may not send more.
type bodyBuffer struct {
	// onRead is called by Read, without a lock, with bytes to credit. It is not
	// called once the body's end was received.
	onRead func(n int64)
	// onClose, if not nil, is called once if the reader closes before the end.
	onClose func()

	mu     sync.Mutex
	more   *sync.Cond
	chunks [][]byte
	window int64 // bytes that can still arrive
	read   int64 // bytes read and not credited
	seq    int64 // of the next chunk
	length int64 // of the body; -1 if unknown
	total  int64 // bytes received
	end    error // the error after the chunks: io.EOF, or why the body failed
	closed bool
}

func newBodyBuffer(length int64, onRead func(int64)) *bodyBuffer {
	i := &bodyBuffer{onRead: onRead, window: streamWindow, length: length}
	i.more = sync.NewCond(&i.mu)
	return i
}

// Violations by the sender of a body.
var (
	errOrder   = protocolError("a part of the body is missing or repeated")
	errAfter   = protocolError("data arrived after the end of the body")
	errOverrun = protocolError("the body exceeds the window")
	errLength  = protocolError("the body does not have the declared length")
)

// chunk adds a numbered part of the body.
func (i *bodyBuffer) chunk(seq int64, data []byte, end bool) *Error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.end == nil && seq != i.seq {
		return errOrder
	}
	i.seq++
	return i.add(data, end)
}

// first adds the data of the head's message.
func (i *bodyBuffer) first(data []byte, end bool) *Error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.add(data, end)
}

func (i *bodyBuffer) add(data []byte, end bool) *Error {
	size := int64(len(data))
	switch {
	case i.end != nil:
		return errAfter
	case size > i.window:
		return errOverrun
	case i.length >= 0 && (i.total+size > i.length || end && i.total+size < i.length):
		return errLength
	}
	i.window -= size
	i.total += size
	if size > 0 && !i.closed {
		i.enqueue(data)
	}
	if end {
		i.end = io.EOF
	}
	i.more.Broadcast()
	return nil
}

// enqueue appends a part. Small parts are copied together: a window of single bytes
// would otherwise need a hundred times its size.
func (i *bodyBuffer) enqueue(data []byte) {
	last := len(i.chunks) - 1
	if last >= 0 && len(data) < coalesceBelow && len(i.chunks[last])+len(data) <= maxChunk {
		i.chunks[last] = append(i.chunks[last], data...)
		return
	}
	i.chunks = append(i.chunks, data)
}

// coalesceBelow is the size below which a part is copied and not queued.
const coalesceBelow = 1 << 10

// Read returns received bytes, and waits for some.
func (i *bodyBuffer) Read(p []byte) (n int, err error) {
	i.mu.Lock()
	for len(i.chunks) == 0 && i.end == nil && !i.closed {
		i.more.Wait()
	}
	switch {
	case i.closed:
		err = errBodyClosed
	case len(i.chunks) == 0:
		err = i.end
	default:
		n = i.copyTo(p)
	}
	back := i.takeCredit()
	i.mu.Unlock()
	if back > 0 {
		i.onRead(back)
	}
	return n, err
}

var errBodyClosed = errors.New("bridge: read from a closed body")

func (i *bodyBuffer) copyTo(p []byte) (n int) {
	for n < len(p) && len(i.chunks) > 0 {
		c := copy(p[n:], i.chunks[0])
		n += c
		if i.chunks[0] = i.chunks[0][c:]; len(i.chunks[0]) == 0 {
			i.chunks[0] = nil
			i.chunks = i.chunks[1:]
		}
	}
	i.read += int64(n)
	return n
}

// takeCredit returns the credit that is due now, and counts it as given.
func (i *bodyBuffer) takeCredit() (n int64) {
	if i.read < ackStream || i.end != nil || i.closed {
		return 0
	}
	n, i.read = i.read, 0
	i.window += n
	return n
}

// Close discards the rest of the body.
func (i *bodyBuffer) Close() error {
	i.mu.Lock()
	early := !i.closed && i.end == nil
	i.closed, i.chunks = true, nil
	i.more.Broadcast()
	i.mu.Unlock()
	if early && i.onClose != nil {
		i.onClose()
	}
	return nil
}

// fail ends the body with an error, after the received part or at once.
func (i *bodyBuffer) fail(err error, atOnce bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.end == nil {
		i.end = err
	}
	if atOnce {
		i.end, i.chunks = err, nil
	}
	i.more.Broadcast()
}
