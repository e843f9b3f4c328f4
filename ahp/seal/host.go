package seal

import (
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// A holder of a link may fail so many handshakes a minute. Then the host closes its
// connections at once, until the minute is over.
const (
	maxFailures = 20
	window      = time.Minute
	maxHolders  = 4096 // whose failures are counted
)

// Host accepts sealed connections.
type Host struct {
	key   Key
	name  string
	clear bool

	mu       sync.Mutex
	failures map[string]*failures // by holder
}

// failures are the failed handshakes of one holder.
type failures struct {
	count int
	until time.Time // when the minute is over that the first one began
}

// NewHost returns a host with a key and its name at the relay. With clear it also accepts
// connections that are not sealed.
func NewHost(key Key, name string, clear bool) *Host {
	return &Host{key: key, name: name, clear: clear, failures: map[string]*failures{}}
}

// Accept seals a client's connection, which nothing has used yet. holder identifies whose
// failures count together, such as the token that the client showed to the relay. With
// clear, Accept does not change a connection whose first message is not sealed. If Accept
// returns an error, the connection is closing: with [ws.CodeSealNeeded] if the client did
// not seal, with [ws.CodeSealBroken] if it has another key or name of this host, and with
// [ws.CodeTryLater] if the holder failed too often.
func (h *Host) Accept(ctx context.Context, conn *ws.Conn, holder string) error {
	defer limitTime(ctx, conn)()
	if h.limited(holder) {
		return refuse(conn, ws.CodeTryLater, "too many failed handshakes; try again in a minute")
	}
	binary, err := conn.IsBinary()
	switch {
	case err != nil:
		return err
	case !binary && h.clear:
		return nil
	case !binary:
		return refuse(conn, ws.CodeSealNeeded, "this host accepts sealed connections only; use its newest link")
	}
	if err = h.answer(conn); ws.CodeOf(err) == ws.CodeSealBroken {
		h.failed(holder)
	}
	return err
}

func refuse(conn *ws.Conn, code ws.CloseCode, reason string) error {
	conn.Close(code, reason)
	return &ws.CloseError{Code: code, Reason: reason}
}

// limited reports whether a holder has failed too often.
func (h *Host) limited(holder string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.failures[holder]
	return f != nil && f.count >= maxFailures && time.Now().Before(f.until)
}

// failed counts a failure.
func (h *Host) failed(holder string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	f := h.failures[holder]
	if f == nil || !now.Before(f.until) {
		h.forget(now)
		f = &failures{until: now.Add(window)}
		h.failures[holder] = f
	}
	f.count++
}

// forget makes space for a holder. If too many have failed within a minute, it forgets one
// of them.
func (h *Host) forget(now time.Time) {
	if len(h.failures) < maxHolders {
		return
	}
	for holder, f := range h.failures {
		if !now.Before(f.until) {
			delete(h.failures, holder)
		}
	}
	for holder := range h.failures {
		if len(h.failures) < maxHolders {
			return
		}
		delete(h.failures, holder)
	}
}
