package client

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// instanceKey names an instance: its id is unique in its session only.
type instanceKey struct{ session, instance string }

// provided is the instances of a client that provides. They outlive
// connections.
type provided struct {
	c *Client

	mu    sync.Mutex // guards what follows; nothing is called under it
	slots map[instanceKey]*slot
}

// slot is one instance, and the order of what is asked of it.
type slot struct {
	// tail is closed when the newest request is over; its link is the only one
	// that asks, because a resume waits for everything of the one before.
	tail     chan struct{}
	instance canvas.Instance // nil: not open
}

func (p *provided) enter(key instanceKey) (s *slot, before, over chan struct{}) {
	over = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	s = p.slots[key]
	if s == nil {
		s = &slot{tail: make(chan struct{})}
		close(s.tail)
		p.slots[key] = s
	}
	before, s.tail = s.tail, over
	return s, before, over
}

// renew forgets the order of what was asked over links that have ended: what was
// read as a link ended never runs, and nobody waits for it. What did run has
// returned.
func (p *provided) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, s := range p.slots {
		if s.instance == nil {
			delete(p.slots, key)
			continue
		}
		s.tail = make(chan struct{})
		close(s.tail)
	}
}

func (p *provided) leave(key instanceKey, s *slot, over chan struct{}) {
	close(over)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.tail == over && s.instance == nil && p.slots[key] == s {
		delete(p.slots, key)
	}
}

// current is the slot's instance. It changes only while its one request runs.
func (p *provided) current(s *slot) canvas.Instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.instance
}

func (p *provided) set(s *slot, i canvas.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.instance = i
}

// only returns the one open instance of an id.
func (p *provided) only(id string) (found canvas.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, s := range p.slots {
		if key.instance != id || s.instance == nil {
			continue
		}
		if found != nil {
			return nil
		}
		found = s.instance
	}
	return found
}

// prune ends the instances that the host closed while it could not say so. It
// is called after a resume, before the new connection's requests are taken, and
// there are none of the old one any more. It does not wait: an instance may want
// the connection for its end.
func (p *provided) prune() {
	gone := p.takeOut(func(key instanceKey) bool {
		p.c.mu.Lock()
		defer p.c.mu.Unlock()
		return p.c.openRow(key) == nil
	})
	for _, i := range gone {
		p.c.work.Go(func() { p.end(i) })
	}
}

// endAll ends what is left, side by side, when no connection is.
func (p *provided) endAll() {
	var all sync.WaitGroup
	for _, i := range p.takeOut(func(instanceKey) bool { return true }) {
		all.Go(func() { p.end(i) })
	}
	all.Wait()
}

func (p *provided) takeOut(gone func(instanceKey) bool) (out []canvas.Instance) {
	p.mu.Lock()
	keys := slices.Collect(maps.Keys(p.slots))
	p.mu.Unlock()
	for _, key := range keys {
		if !gone(key) {
			continue
		}
		p.mu.Lock()
		if s := p.slots[key]; s != nil && s.instance != nil {
			out = append(out, s.instance)
		}
		delete(p.slots, key)
		p.mu.Unlock()
	}
	return out
}

// end closes an instance of which the host does not ask that.
func (p *provided) end(i canvas.Instance) {
	ctx, cancel := context.WithTimeout(context.Background(), p.c.opts.Timeout)
	defer cancel()
	if err := i.Close(ctx); err != nil {
		p.c.opts.Logger.Info("an instance did not close well", "err", err)
	}
}
