package extension

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"time"

	psnet "github.com/shirou/gopsutil/v4/net"

	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// ownerTimeout bounds one look at the system's sockets.
const ownerTimeout = 5 * time.Second

// errForeign means that an extension named a port that is not its own.
var errForeign = errors.New("another process listens at that port; an extension may only show its own server")

// checkOwner returns errForeign if a process outside of g would answer a request to the
// loopback URL raw: an extension shows its own server, not another program of this
// machine, nor the host. It returns nil if no process listens there yet, or if the system
// does not say which process it is.
func checkOwner(ctx context.Context, g *program.Group, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return err
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if u.Port() == "" {
		port, err = 80, nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	sockets, err := psnet.ConnectionsWithContext(ctx, "tcp")
	if err != nil {
		return nil // not known on this system
	}
	if foreign(listeners(sockets, u.Hostname(), uint32(port)), g.Has, runtime.GOOS == "linux") {
		return errForeign
	}
	return nil
}

// foreign reports whether one of the processes is not the extension's. 0 is a process that
// the system does not name: where it names all of the user's own, that of another user.
func foreign(pids []int32, own func(pid int) bool, namesOwn bool) bool {
	return slices.ContainsFunc(pids, func(pid int32) bool {
		if pid == 0 {
			return namesOwn
		}
		return !own(int(pid))
	})
}

// listeners returns the processes that can receive a connection to host and port. A
// socket of exactly that address comes before those of all addresses.
func listeners(sockets []psnet.ConnectionStat, host string, port uint32) []int32 {
	var exact, wildcard []int32
	for _, s := range sockets {
		if s.Status != "LISTEN" || s.Laddr.Port != port {
			continue
		}
		ip, err := netip.ParseAddr(s.Laddr.IP)
		switch ip = ip.Unmap(); {
		case s.Laddr.IP == "*" || err == nil && ip.IsUnspecified():
			wildcard = append(wildcard, s.Pid)
		case err == nil && (ip.String() == host || host == "localhost" && ip.IsLoopback()):
			exact = append(exact, s.Pid)
		}
	}
	if len(exact) == 0 {
		exact = wildcard
	}
	slices.Sort(exact)
	return slices.Compact(exact)
}
