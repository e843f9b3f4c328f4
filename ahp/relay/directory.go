package relay

import (
	"context"
	"sync"
)

// Directory knows where hosts are registered and brings them the signal that a
// lane waits. The one that is built in ([NewDirectory]) is for one edge; one
// that several edges share signals over the network, and the host dials the
// edge that the offer names: messages of a lane never pass the directory.
type Directory interface {
	// Register makes a host known until the returned function is called, which
	// may be called again. An older registration of the host is told so; it is ErrSuperseded where a
	// newer one holds the place.
	Register(ctx context.Context, r Registration) (remove func(), err error)
	// Signal brings an offer to the host and returns the generation of the
	// registration that has it, or says ErrOffline or ErrBusy at once.
	Signal(ctx context.Context, host string, o Offer) (generation int64, err error)
}

// Registration is a host with a control connection. Its functions do not block.
type Registration struct {
	Host       string
	Generation int64
	// Signal passes an offer on to the host.
	Signal func(Offer) error
	// Superseded is called when another registration took the place.
	Superseded func(generation int64)
}

// Offer is a lane that waits for its host. Who knows Secret gets the lane.
type Offer struct {
	Lane, Secret string
	// Edge is the URL that the host dials; "" is the edge where it is
	// registered.
	Edge string
}

// NewDirectory returns the directory of a single edge.
func NewDirectory() Directory { return &memory{hosts: map[string]*Registration{}} }

type memory struct {
	mu    sync.Mutex
	hosts map[string]*Registration
}

// Register implements [Directory].
func (d *memory) Register(_ context.Context, r Registration) (func(), error) {
	d.mu.Lock()
	old := d.hosts[r.Host]
	if old != nil && old.Generation > r.Generation {
		d.mu.Unlock()
		return nil, ErrSuperseded
	}
	d.hosts[r.Host] = &r
	d.mu.Unlock()
	if old != nil {
		old.Superseded(r.Generation)
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.hosts[r.Host] == &r {
			delete(d.hosts, r.Host)
		}
	}, nil
}

// Signal implements [Directory].
func (d *memory) Signal(_ context.Context, host string, o Offer) (int64, error) {
	d.mu.Lock()
	r := d.hosts[host]
	d.mu.Unlock()
	if r == nil {
		return 0, ErrOffline
	}
	return r.Generation, r.Signal(o)
}
