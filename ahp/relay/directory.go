package relay

import (
	"context"
	"sync"
	"time"
)

// Directory knows where hosts are registered and delivers offers of lanes to
// them. [NewDirectory] returns the one for a single edge. A directory that
// several edges share is a [Fleet] and delivers offers over the network; the host then
// dials the edge that the offer names, so messages of a lane never pass the directory.
type Directory interface {
	// Register adds a registration until the returned function is called, which
	// is idempotent. It notifies an older registration of the host, and returns
	// ErrSuperseded if the host has a newer one.
	Register(ctx context.Context, r Registration) (remove func(), err error)
	// Signal delivers an offer to the host and returns the generation of the
	// registration that received it. It returns ErrOffline or ErrBusy without
	// waiting for the host, and ErrUnavailable if it cannot know whether the host is
	// registered.
	Signal(ctx context.Context, host string, o Offer) (generation int64, err error)
}

// Fleet is a Directory that several edges share.
type Fleet interface {
	Directory
	// Watch calls registered with the generation of every registration of the host at
	// another edge, until stop is called. The function must not block.
	Watch(host string, registered func(generation int64)) (stop func())
	// Unsettled returns when hosts were last moving between edges: an edge started or
	// began to drain, or this edge was cut off. For EdgeOptions.StartupGrace from then on,
	// a host without a registration might be on its way.
	Unsettled() time.Time
	// Leave announces that this edge drains, and reports whether there are other edges.
	Leave() (others bool)
}

// Registration is a host with a control connection. Its functions do not block.
type Registration struct {
	// Host is the host's name.
	Host string
	// Generation distinguishes runs of the host: a newer run has a larger one.
	Generation int64
	// Connection numbers the control connections of one run of the host: of two
	// registrations with one generation, the larger number is the later one. 0 is a host
	// that does not number them.
	Connection int64
	// Signal passes an offer to the host, or returns ErrBusy.
	Signal func(Offer) error
	// Superseded is called with the generation of the registration that replaced
	// this one.
	Superseded func(generation int64)
}

// Offer is a lane that waits for its host.
type Offer struct {
	// Lane is the lane's id.
	Lane string
	// Secret opens the lane, once. It is the only credential that the lane needs.
	Secret string
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

// Register adds a registration (see [Directory]).
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

// Signal passes an offer to the host (see [Directory]).
func (d *memory) Signal(_ context.Context, host string, o Offer) (int64, error) {
	d.mu.Lock()
	r := d.hosts[host]
	d.mu.Unlock()
	if r == nil {
		return 0, ErrOffline
	}
	return r.Generation, r.Signal(o)
}
