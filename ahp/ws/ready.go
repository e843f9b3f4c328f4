package ws

import (
	"io"
	"net"
)

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
