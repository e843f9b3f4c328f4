package ws

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// The sizes of Forward's buffers. A direction that waits for a message holds none, or a
// small one if the socket cannot be read without waiting (TLS, tests). A message gets a
// middle one, and a long frame a large one if fewer than maxLarge are in use. With
// fewer reads and writes for a frame, its sender and its receiver are woken less often.
const (
	smallBuffer  = 4 << 10
	middleBuffer = pieceSize
	largeBuffer  = 1 << 20
	maxLarge     = 4 // in the whole process, 4 MiB
)

// headerSpace is the free space before the bytes that are read, for the header of the
// first piece.
const headerSpace = maxHeader

// Forward copies the messages of src to dst until one of the connections ends, and
// returns the cause, the *[CloseError] of src.Err or dst.Err. By then it has written
// everything that src received before its end. A message that src did not complete is
// not completed on dst. Forward closes neither connection; the caller does.
//
// Both connections must come from [Accept] or [Upgrade], and nothing else may ever read
// src. Only the headers of frames are parsed. A long frame is forwarded as fragments
// while it arrives, through 64 KiB of memory, or 1 MiB for up to four frames at a time.
// If dst's socket takes nothing, TCP's flow control stops src's sender. Forward answers
// pings, enforces src's read limit, and calls forwarded, if it is not nil, with the
// bytes of payload of each write.
func Forward(dst, src *Conn, forwarded func(bytes int)) error {
	if dst.out.client || src.out.client {
		panic("ws: Forward joins accepted connections")
	}
	f := &forwarder{dst: dst, src: src, forwarded: forwarded, taken: headerSpace, end: headerSpace, idle: make([]byte, headerSpace)}
	if f.read = f.readReady(src.out.nc.Conn); f.read == nil {
		f.idle = make([]byte, smallBuffer)
		f.read = func() (int, error) { return src.out.nc.Conn.Read(f.buf[f.end:]) }
	}
	f.buf = f.idle
	defer f.release()
	for begun := f.takeAhead(); ; begun = false {
		var lost error
		if !begun {
			lost = f.fill()
		}
		out, payload, bad := f.translate()
		if err := f.write(out, payload); err != nil {
			return err
		}
		switch {
		case bad != nil:
			return src.out.shut(bad, true)
		case lost != nil:
			return lost
		}
	}
}

// forwarder is the state of one Forward.
type forwarder struct {
	dst, src  *Conn
	forwarded func(int)
	frames    frameReader

	buf   []byte // headerSpace, bytes taken by translate, bytes read but not taken, free space
	taken int
	end   int
	full  bool    // the last read filled the buffer, so there are more bytes
	held  *[]byte // buf if it is from a pool, or nil
	idle  []byte  // buf while the direction waits for a message

	// read reads into the free space, and waits for at least one byte.
	read func() (int, error)
}

// takeAhead begins with what ReadAhead has read, if anything.
func (f *forwarder) takeAhead() bool {
	if len(f.src.ahead) == 0 {
		return false
	}
	f.held = middles.Get().(*[]byte)
	f.buf = *f.held
	f.end += copy(f.buf[headerSpace:], f.src.ahead)
	f.src.ahead = nil
	return true
}

// fill reads what has arrived, behind the bytes that were not taken.
func (f *forwarder) fill() error {
	left := f.buf[f.taken:f.end]
	old := f.chooseBuffer(len(left) == 0)
	f.taken, f.end = headerSpace, headerSpace+copy(f.buf[headerSpace:], left)
	giveBuffer(old)
	n, err := f.src.readSocket(f.read)
	f.end += n
	f.full = f.end == len(f.buf)
	return err
}

// chooseBuffer chooses the buffer for the next read. It returns the pooled buffer that
// is replaced, or nil.
func (f *forwarder) chooseBuffer(empty bool) (old *[]byte) {
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

// release returns the buffer to its pool.
func (f *forwarder) release() {
	giveBuffer(f.held)
	f.held = nil
}

// These pools are not those of the writer's pieces, whose length is 0.
var (
	middles    = sync.Pool{New: func() any { b := make([]byte, middleBuffer); return &b }}
	larges     = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}
	largeInUse atomic.Int32
)

// takeLarge returns a large buffer, or nil if maxLarge are in use.
func takeLarge() *[]byte {
	if largeInUse.Add(1) > maxLarge {
		largeInUse.Add(-1)
		return nil
	}
	return larges.Get().(*[]byte)
}

// giveBuffer returns a buffer to its pool.
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

// translate turns the frames that were read into frames to send, in place. They lose
// their masks, so they never grow. It returns them with the size of their payload, and
// bad if src closes or violates the protocol.
func (f *forwarder) translate() (out []byte, payload int, bad *CloseError) {
	from, to := headerSpace, headerSpace
	for f.taken < f.end {
		p, bad := f.frames.next(f.buf[f.taken:f.end], f.src.readLimit.Load())
		if bad != nil || p.size == 0 {
			return f.buf[from:to], payload, bad
		}
		body := f.buf[f.taken+p.header : f.taken+p.size]
		f.taken += p.size
		maskBytes(p.key, p.pos, body)
		if p.control != 0 {
			if bad := f.src.handleControl(p.control, body); bad != nil {
				return f.buf[from:to], payload, bad
			}
			continue
		}
		if len(body) == 0 && !p.empty {
			continue // only the header of a long frame has arrived
		}
		payload += len(body)
		var space [maxHeader]byte
		head, _ := appendHeader(space[:0], p.first, len(body), false)
		if to == from { // the first piece is not moved
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

// write writes frames. Nothing is read from src meanwhile, which must not count as
// silence of src.
func (f *forwarder) write(out []byte, payload int) error {
	if len(out) == 0 {
		return nil
	}
	f.src.out.nc.pauseReading(true)
	defer f.src.out.nc.pauseReading(false)
	f.dst.out.writing <- struct{}{}
	defer func() { <-f.dst.out.writing }()
	if err := f.dst.out.write(out); err != nil {
		return err
	}
	if f.forwarded != nil {
		f.forwarded(payload)
	}
	return nil
}

// readSocket reads from the socket directly. That is safe because gorilla has read
// nothing after the upgrade, so its buffer is empty.
func (c *Conn) readSocket(read func() (int, error)) (int, error) {
	c.out.reading <- struct{}{}
	defer func() { <-c.out.reading }()
	if err := c.Err(); err != nil {
		return 0, err
	}
	n, err := read()
	c.out.nc.noteRead(n, err)
	if err != nil {
		return n, c.readFailed(err)
	}
	return n, nil
}

// readReady returns a read function that takes a middle buffer once there are bytes to
// read. So a waiting direction holds no buffer, and a message of usual size takes one
// read. It returns nil if nc is not a socket.
func (f *forwarder) readReady(nc net.Conn) func() (int, error) {
	raw := rawConn(nc)
	if raw == nil {
		return nil
	}
	var n int
	var failed error
	attempt := func(fd uintptr) bool {
		waiting := f.held == nil
		if waiting {
			f.held = middles.Get().(*[]byte)
			f.buf = *f.held
		}
		var again bool
		if n, again, failed = readOnce(fd, f.buf[f.end:]); again && waiting {
			giveBuffer(f.held)
			f.held, f.buf = nil, f.idle
		}
		return !again
	}
	return func() (int, error) {
		n, failed = 0, nil
		if err := raw.Read(attempt); err != nil {
			return 0, err
		}
		if n == 0 && failed == nil {
			return 0, io.EOF
		}
		return n, failed
	}
}
