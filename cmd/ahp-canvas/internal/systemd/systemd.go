package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// firstFD is the file descriptor of the first listener.
const firstFD = 3

// Manager is the service manager that started this process. The zero Manager stands for
// none.
type Manager struct {
	notify string // a Unix socket; "" if nothing is to be reported
	fds    int    // listeners
}

// FromEnv returns the service manager that the environment names, and removes its variables
// from the environment.
func FromEnv() Manager {
	m := Manager{notify: os.Getenv("NOTIFY_SOCKET")}
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err == nil && pid == os.Getpid() {
		m.fds, _ = strconv.Atoi(os.Getenv("LISTEN_FDS")) // 0 if it is not a number
	}
	for _, name := range []string{"NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(name)
	}
	return m
}

// Listener returns the listener that the service manager passed; nil if it passed none.
func (m Manager) Listener() (net.Listener, error) {
	switch {
	case m.fds == 0:
		return nil, nil
	case m.fds != 1:
		return nil, fmt.Errorf("the service manager passes %d sockets; give the socket unit one ListenStream", m.fds)
	}
	f := os.NewFile(firstFD, "LISTEN_FD")
	if f == nil {
		return nil, errors.New("the service manager passes a socket that cannot be used")
	}
	defer f.Close() // the listener has a copy
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("socket of the service manager: %w", err)
	}
	if _, ok := ln.Addr().(*net.TCPAddr); !ok {
		return nil, errors.Join(fmt.Errorf("the service manager passes a socket of the network %q; ListenStream needs an address and a port", ln.Addr().Network()), ln.Close())
	}
	return ln, nil
}

// Ready reports that the program serves, with a line for people.
func (m Manager) Ready(status string) {
	m.report("READY=1\nSTATUS=" + strings.ReplaceAll(status, "\n", " "))
}

// StoppingOn reports that the program has begun to stop when ctx is canceled. The caller
// must call end, which waits for a report that has begun.
func (m Manager) StoppingOn(ctx context.Context) (end func()) {
	reported := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { m.report("STOPPING=1"); close(reported) })
	return func() {
		if !stop() {
			<-reported
		}
	}
}

// report sends a message. A service manager that does not receive it ends the program when
// its own timeout is over, so the error says nothing more.
func (m Manager) report(text string) {
	if m.notify == "" {
		return
	}
	name := m.notify
	if strings.HasPrefix(name, "@") { // in the abstract namespace
		name = "\x00" + name[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(text))
}
