package ws

import (
	"sync"
	"sync/atomic"
)

// What Forward holds while it copies: a direction that waits for a message holds
// nothing, or a small buffer where the socket cannot say that there is something
// to read (TLS, a test's network). Under way it has a middle one, and a long
// frame a large one, as long as not too many others have: the fewer turns of
// read and write a frame takes, the less its sender and its reader are woken in
// between.
const (
	smallBuffer  = 4 << 10
	middleBuffer = pieceSize
	largeBuffer  = 1 << 20
	manyLarge    = 4 // in the whole process: 4 MiB
)

// room is what stands free before the bytes that are read, for the header of the
// piece that they begin with.
const room = maxHeader

// Forward copies the messages of src to dst until one of the two ends, and
// returns the cause, a *[CloseError] of src.Err or dst.Err. Everything that src
// received before its end is written by then; a message that it did not
// complete is not completed on dst either. It closes neither: the caller tells
// the other side.
//
// Both are connections from [Accept] or [Upgrade], and Forward is the only
// reader that src ever has. Frames are not parsed beyond their headers: a long
// one leaves as fragments while it still arrives, through 64 KiB of memory, or
// 1 MiB for four of them at a time, and a socket of dst that takes nothing stops
// src's sender by TCP's own flow control. Pings are answered here, the read limit
// of src holds, and forwarded is told how many bytes of payload went on each time
// (nil tells nobody).
func Forward(dst, src *Conn, forwarded func(bytes int)) error {
	if dst.client || src.client {
		panic("ws: Forward joins accepted connections")
	}
	f := &forwarder{dst: dst, src: src, forwarded: forwarded, taken: room, end: room, idle: make([]byte, room)}
	if f.read = f.readReady(src.nc.Conn); f.read == nil {
		f.idle = make([]byte, smallBuffer)
		f.read = func() (int, error) { return src.nc.Conn.Read(f.buf[f.end:]) }
	}
	f.buf = f.idle
	defer f.release()
	for {
		lost := f.fill()
		out, payload, bad := f.translate()
		if err := f.write(out, payload); err != nil {
			return err
		}
		switch {
		case bad != nil:
			return src.shut(bad, true)
		case lost != nil:
			return lost
		}
	}
}

type forwarder struct {
	dst, src  *Conn
	forwarded func(int)
	frames    frameReader

	buf   []byte // room, what was taken, what was read and not yet taken, free space
	taken int
	end   int
	full  bool    // the last read filled the buffer: there is more
	held  *[]byte // buf where it is from a pool
	idle  []byte  // buf of a direction that waits for a message

	// read waits, and reads into the free space.
	read func() (int, error)
}

// fill reads what is there behind what was left over.
func (f *forwarder) fill() error {
	left := f.buf[f.taken:f.end]
	old := f.fit(len(left) == 0)
	f.taken, f.end = room, room+copy(f.buf[room:], left)
	giveBuffer(old)
	n, err := f.src.readSocket(f.read)
	f.end += n
	f.full = f.end == len(f.buf)
	return err
}

// fit chooses the buffer for the next read; the one that it takes the place of
// is returned, or nil.
func (f *forwarder) fit(empty bool) (old *[]byte) {
	next := f.held
	switch {
	case !f.full && empty && f.frames.left == 0:
		next = nil
	case f.full && f.frames.left > middleBuffer && len(f.buf) < largeBuffer:
		next = takeLarge()
	}
	if next == nil && f.full {
		if next = f.held; next == nil {
			next = middles.Get().(*[]byte)
		}
	}
	if next == f.held {
		return nil
	}
	old, f.held = f.held, next
	f.buf = f.idle
	if next != nil {
		f.buf = *next
	}
	return old
}

func (f *forwarder) release() {
	giveBuffer(f.held)
	f.held = nil
}

// The pools are apart from the writer's pieces, which come with a length of 0.
var (
	middles    = sync.Pool{New: func() any { b := make([]byte, middleBuffer); return &b }}
	larges     = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}
	largeInUse atomic.Int32
)

// takeLarge returns a large buffer, or nil where enough are in use.
func takeLarge() *[]byte {
	if largeInUse.Add(1) > manyLarge {
		largeInUse.Add(-1)
		return nil
	}
	return larges.Get().(*[]byte)
}

func giveBuffer(b *[]byte) {
	switch {
	case b == nil:
	case len(*b) == largeBuffer:
		larges.Put(b)
		largeInUse.Add(-1)
	default:
		middles.Put(b)
	}
}

// translate turns the frames that were read into frames of ours, in place: they
// lose their mask, so that they never grow. It returns them with the size of
// their payload, and how src broke the protocol or said goodbye.
func (f *forwarder) translate() (out []byte, payload int, bad *CloseError) {
	from, to := room, room
	for f.taken < f.end {
		p, bad := f.frames.next(f.buf[f.taken:f.end], f.src.readLimit.Load())
		if bad != nil || p.size == 0 {
			return f.buf[from:to], payload, bad
		}
		body := f.buf[f.taken+p.header : f.taken+p.size]
		f.taken += p.size
		maskBytes(p.key, p.pos, body)
		if p.control != 0 {
			if bad := f.src.tookControl(p.control, body); bad != nil {
				return f.buf[from:to], payload, bad
			}
			continue
		}
		if len(body) == 0 && !p.empty {
			continue // the header of a long frame, of which nothing more has come
		}
		payload += len(body)
		var space [maxHeader]byte
		head, _ := appendHeader(space[:0], p.first, len(body), false)
		if to == from { // the first piece stays where it lies
			to = f.taken
			from = to - len(body) - len(head)
			copy(f.buf[from:], head)
			continue
		}
		to += copy(f.buf[to:], head)
		to += copy(f.buf[to:], body)
	}
	return f.buf[from:to], payload, nil
}

// write writes framed bytes. While it waits nothing is read from src, which is
// not silence of src's.
func (f *forwarder) write(out []byte, payload int) error {
	if len(out) == 0 {
		return nil
	}
	f.src.nc.hold(true)
	defer f.src.nc.hold(false)
	f.dst.writing <- struct{}{}
	defer func() { <-f.dst.writing }()
	if err := f.dst.write(out); err != nil {
		return err
	}
	if f.forwarded != nil {
		f.forwarded(payload)
	}
	return nil
}

// readSocket reads what is there, past gorilla, whose buffer is empty: nobody
// has read through it.
func (c *Conn) readSocket(read func() (int, error)) (int, error) {
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	if err := c.Err(); err != nil {
		return 0, err
	}
	n, err := read()
	c.nc.heard(n, err)
	if err != nil {
		return n, c.readFailed(err)
	}
	return n, nil
}
