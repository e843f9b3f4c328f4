package bridge

import (
	"errors"
	"io"
	"sync"
)

// inbox is what arrived of a body and was not read yet: the io.ReadCloser of the
// app's transport, or of a client's response. It holds at most a window's bytes,
// for nobody may send more.
type inbox struct {
	// given is called after reading, without a lock, with bytes that were read
	// and are to be given back. It is not called after the body's end arrived.
	given func(n int64)
	// left is called once, when the reader closes before the end; may be nil.
	left func()

	mu     sync.Mutex
	more   *sync.Cond
	chunks [][]byte
	window int64 // what may still arrive
	read   int64 // read and not given back
	seq    int64 // of the next chunk
	length int64 // of the whole body; -1 is not known
	total  int64 // arrived
	end    error // what comes after the chunks: io.EOF, or why it broke off
	closed bool
}

func newInbox(length int64, given func(int64)) *inbox {
	i := &inbox{given: given, window: streamWindow, length: length}
	i.more = sync.NewCond(&i.mu)
	return i
}

// The ways in which a sender breaks the rules of a body.
var (
	errOrder   = protocolError("a part of the body is missing or came twice")
	errAfter   = protocolError("more of the body came after its end")
	errOverrun = protocolError("more of the body came than the window allows")
	errLength  = protocolError("the body is not as long as it was said to be")
)

// chunk adds a numbered part of the body.
func (i *inbox) chunk(seq int64, data []byte, end bool) *Error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.end == nil && seq != i.seq {
		return errOrder
	}
	i.seq++
	return i.add(data, end)
}

// first adds what came with the head.
func (i *inbox) first(data []byte, end bool) *Error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.add(data, end)
}

func (i *inbox) add(data []byte, end bool) *Error {
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
		i.keep(data)
	}
	if end {
		i.end = io.EOF
	}
	i.more.Broadcast()
	return nil
}

// keep queues a part. Small ones are put together: a window of single bytes
// would cost a hundred times its size.
func (i *inbox) keep(data []byte) {
	last := len(i.chunks) - 1
	if last >= 0 && len(data) < small && len(i.chunks[last])+len(data) <= maxChunk {
		i.chunks[last] = append(i.chunks[last], data...)
		return
	}
	i.chunks = append(i.chunks, data)
}

// small is how many bytes are copied rather than queued.
const small = 1 << 10

// Read reads what arrived, and waits for something.
func (i *inbox) Read(p []byte) (n int, err error) {
	i.mu.Lock()
	for len(i.chunks) == 0 && i.end == nil && !i.closed {
		i.more.Wait()
	}
	switch {
	case i.closed:
		err = errInboxClosed
	case len(i.chunks) == 0:
		err = i.end
	default:
		n = i.copyTo(p)
	}
	back := i.giveBack()
	i.mu.Unlock()
	if back > 0 {
		i.given(back)
	}
	return n, err
}

var errInboxClosed = errors.New("bridge: read of a body that was closed")

func (i *inbox) copyTo(p []byte) (n int) {
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

// giveBack returns what is to be given back now, and counts it as given.
func (i *inbox) giveBack() (n int64) {
	if i.read < giveBackStream || i.end != nil || i.closed {
		return 0
	}
	n, i.read = i.read, 0
	i.window += n
	return n
}

// Close forgets what was not read.
func (i *inbox) Close() error {
	i.mu.Lock()
	early := !i.closed && i.end == nil
	i.closed, i.chunks = true, nil
	i.more.Broadcast()
	i.mu.Unlock()
	if early && i.left != nil {
		i.left()
	}
	return nil
}

// fail ends the body with an error: after what arrived, or at once.
func (i *inbox) fail(err error, atOnce bool) {
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
