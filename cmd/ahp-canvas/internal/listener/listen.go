package listener

import (
	"errors"
	"net"
	"syscall"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Error gives an error of net.Listen a code and says what to do; nil stays nil.
func Error(code, address string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EADDRINUSE):
		return term.Failf(code, "address %s is in use by another program; choose another port, or port 0 for a free one", address)
	}
	return term.Failf(code, "cannot listen on %s: %v", address, err)
}

// IsLoopback reports whether only this machine can reach an address.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
