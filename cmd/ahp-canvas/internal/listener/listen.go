package listener

import (
	"errors"
	"net"
	"syscall"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Error gives an error of net.Listen a code, names the flag that has the address and says
// what to do; nil stays nil.
func Error(code, flag, address string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EADDRINUSE):
		return term.Failf(code, "%s: address %s is in use by another program; choose another port, or port 0 for a free one", flag, address)
	}
	return term.Failf(code, "%s: cannot listen on %s: %v", flag, address, err)
}

// CheckAddress checks an address to listen on.
func CheckAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return term.Usagef("%s %q: want an address and a port, as in 127.0.0.1:8080", flag, address)
	}
	return nil
}

// IsLoopback reports whether only this machine can reach an address.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
