package serve

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// listen takes the listener of the service manager, or opens one at --listen.
func (s *starting) listen() (ln net.Listener, note string, err error) {
	passed, err := s.manager.Listener()
	if err != nil {
		return nil, "", term.Failf(term.CodeNotStarted, "%v", err)
	}
	if passed != nil {
		return passed, "", nil
	}
	return listen(s.options.listen, s.state, s.others)
}

// listen opens a host's listener. For port 0 it tries the port of the last run first, and
// takes a free one if that is taken; then note says so.
func listen(address string, state *statedir.State, others []reach.Published) (ln net.Listener, note string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", err // check has found it
	}
	if port != "0" {
		ln, err = net.Listen("tcp", address)
		return ln, "", listener.Error(term.CodeNotStarted, "--listen", address, err)
	}
	if state.Port != 0 {
		ln, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(state.Port)))
		if err == nil {
			return ln, "", nil
		}
		note = fmt.Sprintf("port %d of the last run is in use; this run has another port, and open pages need the new link", state.Port)
		if hasPort(others, state.Port) {
			note = fmt.Sprintf("another host is running on port %d; this one has another port, and commands such as ls and open use this one now", state.Port)
		}
	}
	if ln, err = net.Listen("tcp", address); err != nil {
		return nil, "", listener.Error(term.CodeNotStarted, "--listen", address, err)
	}
	return ln, note, nil
}

// keepPort keeps the port for the next start, unless a running host has the kept one.
func keepPort(ln net.Listener, state *statedir.State, others []reach.Published) error {
	port := ln.Addr().(*net.TCPAddr).Port
	if state.Port == port || hasPort(others, state.Port) {
		return nil
	}
	return state.SetPort(port)
}

func hasPort(hosts []reach.Published, port int) bool {
	return slices.ContainsFunc(hosts, func(h reach.Published) bool { return h.Port() == port })
}
