package host

import (
	"errors"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Load is how many connections a host has.
type Load struct {
	// Connections counts open AHP connections, those through a relay included.
	Connections int
	// MaxConnections is their limit.
	MaxConnections int
	// Refused counts AHP connections that were refused at the limit, or at that of their
	// address.
	Refused uint64
	// Slow counts AHP connections that were closed because they did not read.
	Slow uint64
	// StoreErrors counts the changes that the store refused because of the disk.
	StoreErrors uint64
	// HTTP counts the other connections of Serve's listener.
	HTTP web.ConnStats
	// Memory is what clients make the host hold.
	Memory Memory
}

// Memory is what clients make a host hold, in bytes.
type Memory struct {
	// Limit is Options.Memory.
	Limit int64
	// Used is how much is held now.
	Used int64
	// ByKind is how much for each purpose: frames, queues, replies, content, schemas,
	// clients, state, replay, cache, saved and events.
	ByKind map[string]int64
	// Closed counts connections that were closed because of what they held.
	Closed uint64
	// Refused counts work that was refused or delayed because too much was held.
	Refused uint64
}

// memoryLoad returns what the ledger says.
func (h *Host) memoryLoad() Memory {
	stats := h.memory.Stats()
	m := Memory{
		Limit: h.memory.Limit(), Used: h.memory.Total(), ByKind: map[string]int64{},
		Closed: stats.Closed, Refused: stats.Refused,
	}
	for _, k := range budget.Kinds() {
		m.ByKind[k.String()] = h.memory.Used(k)
	}
	return m
}

// Load returns the current counts.
func (h *Host) Load() Load {
	stats := h.server.Stats()
	return Load{
		Connections: stats.Connections, MaxConnections: h.opts.MaxConnections, Slow: stats.Slow,
		Refused: h.full.Load(), HTTP: h.conns.Stats(), Memory: h.memoryLoad(), StoreErrors: h.storeHealth().Errors,
	}
}

// Health returns nil if the host can store changes. Otherwise it returns why not: the store
// refuses changes, for example because the disk is full, or the host has run out of
// sequence numbers and must be restarted. The store must be a [channels.WatchedStore] for
// the former.
func (h *Host) Health() error {
	if err := h.exhausted(); err != nil {
		return err
	}
	if err := h.storeHealth().Err; err != nil {
		return &unhealthyError{err}
	}
	return nil
}

// unhealthyError is the error of Health. Its text has no path, because it is for
// everyone who reaches the host.
type unhealthyError struct{ cause error }

func (e *unhealthyError) Unwrap() error { return e.cause }

func (e *unhealthyError) Error() string {
	why := "the store refuses changes"
	for _, kind := range []error{channels.ErrStoreFull, channels.ErrStoreReadOnly, channels.ErrStoreBroken} {
		if errors.Is(e.cause, kind) {
			why = kind.Error()
		}
	}
	return unhealthyPrefix + why
}

const unhealthyPrefix = "host: changes are not stored: "

// unstored returns why changes are not stored, for people; "" if they are.
func (h *Host) unstored() string {
	if err := h.Health(); err != nil {
		return strings.TrimPrefix(err.Error(), unhealthyPrefix)
	}
	return ""
}

// storeHealth returns the health of the store; the zero value if the store has none.
func (h *Host) storeHealth() channels.StoreHealth {
	if s, ok := h.opts.Store.(interface{ Health() channels.StoreHealth }); ok {
		return s.Health()
	}
	return channels.StoreHealth{}
}
