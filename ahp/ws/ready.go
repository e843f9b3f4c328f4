package ws

import (
	"io"
	"net"
)

// readReady returns a read that takes a middle buffer when there is something to
// read, so that a direction that waits holds none and a message of any usual size
// costs one read. It is nil where the socket is not right below.
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
