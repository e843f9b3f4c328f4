package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"
)

// listen opens the listener of a host. Where the address leaves the port open,
// the last one is tried first; when somebody else has it, a free one is taken
// and note says so.
func listen(address string, kept *state, others []endpointFile) (ln net.Listener, note string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", &usage{text: fmt.Sprintf("--listen %s: give an address and a port, as in 127.0.0.1:0", address)}
	}
	if port != "0" {
		ln, err = net.Listen("tcp", address)
		return ln, "", startError(codeNotStarted, address, err)
	}
	if kept.Port != 0 {
		ln, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(kept.Port)))
		if err == nil {
			return ln, "", nil
		}
		note = fmt.Sprintf("port %d, the last one, is taken: using another; pages that are still open need the new link", kept.Port)
		if slices.ContainsFunc(others, func(e endpointFile) bool { return e.port() == kept.Port }) {
			note = fmt.Sprintf("another host is running on port %d: this one uses another port, and is the one that ls, open, … drive now", kept.Port)
		}
	}
	if ln, err = net.Listen("tcp", address); err != nil {
		return nil, "", startError(codeNotStarted, address, err)
	}
	return ln, note, nil
}

// keepPort notes the port for the next start, unless a host that lives keeps
// its own there.
func keepPort(ln net.Listener, kept *state, others []endpointFile) error {
	port := ln.Addr().(*net.TCPAddr).Port
	if kept.Port == port || slices.ContainsFunc(others, func(e endpointFile) bool { return e.port() == kept.Port }) {
		return nil
	}
	kept.Port = port
	return kept.save()
}

func startError(code, address string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EADDRINUSE):
		return failf(code, "%s is taken by another program: choose another port, or port 0 for a free one", address)
	}
	return failf(code, "cannot listen on %s: %v", address, err)
}
