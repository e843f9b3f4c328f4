package ws

import (
	"time"

	"golang.org/x/sys/unix"
)

// acknowledged reports whether the other end's system has acknowledged anything within a
// time. false can also mean that this is not known.
func (t *transport) acknowledged(within time.Duration) (yes bool) {
	if t.raw == nil {
		return false
	}
	_ = t.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		yes = err == nil && time.Duration(info.Last_ack_recv)*time.Millisecond < within
	})
	return yes
}
