package client

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// instanceKey identifies an instance: its id is unique only in its session.
type instanceKey struct{ session, instance string }

// provided holds the open canvases of a client that provides. They outlive
// connections.
type provided struct {
	c *Client

	// mu guards what follows. It is taken after the client's mutex, never before.
	mu       sync.Mutex
	slots    map[instanceKey]*slot
	unlisted map[instanceKey]*instance // open, but not in the host's catalog yet
	channels map[string]*instance      // open and listed, by channel
}

func newProvided(c *Client) provided {
	return provided{c: c, slots: map[instanceKey]*slot{}, unlisted: map[instanceKey]*instance{}, channels: map[string]*instance{}}
}

// slot orders the requests of one instance.
type slot struct {
	// tail is closed when the newest request is done. All requests in it come from
	// one connection, because a resume waits for the requests of the previous one; or from
	// two, if the client moved.
	tail     chan struct{}
	from     *link     // of the newest request
	instance *instance // nil: not open
}

// enter adds a request to its instance's queue. It runs after prev is closed, and
// closes done.
func (p *provided) enter(key instanceKey, l *link) (s *slot, prev, done chan struct{}) {
	done = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	s = p.slots[key]
	if s == nil {
		s = &slot{tail: make(chan struct{})}
		close(s.tail)
		p.slots[key] = s
	}
	prev, s.tail = s.tail, done
	if old := s.from; old != nil && old != l {
		prev = p.endOf(prev, old)
	}
	s.from = l
	return s, prev, done
}

// endOf returns a channel that is closed when a request of a connection is done, or can run no
// more because the connection has ended.
func (p *provided) endOf(request chan struct{}, l *link) chan struct{} {
	select {
	case <-request:
		return request
	default:
	}
	end := make(chan struct{})
	p.c.work.Go(func() {
		defer close(end)
		select {
		case <-request:
		case <-l.over:
		}
	})
	return end
}

// leave ends a request, and removes the slot if it is unused.
func (p *provided) leave(key instanceKey, s *slot, done chan struct{}) {
	close(done)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.tail == done && s.instance == nil && p.slots[key] == s {
		delete(p.slots, key)
	}
}

// resetQueues empties the queues once a connection has ended. Requests that were
// read as it ended never run, so waiting for them would block forever; those that
// did run have returned.
func (p *provided) resetQueues() {
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

// at returns the slot's instance. Only the slot's running request changes it.
func (p *provided) at(s *slot) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.instance
}

// add puts an instance that has been opened, or opened again, into its slot.
func (p *provided) add(s *slot, i *instance) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.mu.Lock()
	isNew := s.instance == nil
	if isNew {
		s.instance = i
		p.unlisted[i.key] = i
	}
	p.mu.Unlock()
	if isNew {
		p.catalogChanged(i.key.session)
	} else if i.isListed() {
		p.listen(i)
	}
	i.announceAgain()
}

// remove takes the instance out of the slot. It returns nil if there is none.
func (p *provided) remove(s *slot) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := s.instance
	if i == nil {
		return nil
	}
	s.instance = nil
	delete(p.unlisted, i.key)
	if i.isListed() {
		delete(p.channels, i.channel)
	}
	return i
}

// catalogChanged looks up the channels of a session's new instances in the host's
// catalog. It is called under the client's mutex, and so are listen and deliver.
func (p *provided) catalogChanged(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, i := range p.unlisted {
		if key.session != uri {
			continue
		}
		if entry := p.c.feed.mirror.catalogEntry(key, p.c.opts.ClientID); entry != nil {
			delete(p.unlisted, key)
			p.channels[entry.Channel] = i
			i.channel = entry.Channel
			close(i.listed)
			p.listen(i)
		}
	}
}

// listen subscribes to the channel of an instance that receives messages.
func (p *provided) listen(i *instance) {
	if i.messenger() == nil || p.c.feed.mirror.channels[i.channel] != nil {
		return
	}
	p.c.work.Go(func() {
		ctx, cancel := context.WithTimeout(i.ctx, p.c.opts.Timeout)
		defer cancel()
		if _, err := p.c.Subscribe(ctx, i.channel); err != nil && ctx.Err() == nil {
			p.c.opts.Logger.Info("cannot receive messages of Views", "id", i.key.instance, "err", err)
		}
	})
}

// deliver hands a View's message to its instance. Messages under this client's id
// are the provider's own.
func (p *provided) deliver(e envelope) {
	m, ok := e.action.(canvas.Message)
	if !ok || e.Origin == nil || e.Origin.ClientID == p.c.opts.ClientID {
		return
	}
	p.mu.Lock()
	i := p.channels[e.Channel]
	p.mu.Unlock()
	if i != nil {
		i.mailbox.put(canvas.View{ClientID: e.Origin.ClientID}, m.Payload)
	}
}

// byID returns the open instance with an id, or nil if there is none or several
// sessions have one.
func (p *provided) byID(id string) (found canvas.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, s := range p.slots {
		if key.instance != id || s.instance == nil {
			continue
		}
		if found != nil {
			return nil
		}
		found = s.instance.now()
	}
	return found
}

// resumed follows a successful handshake, before requests of the new connection
// are accepted. It ends the instances that the host closed meanwhile, in the
// background because an instance might use the connection as it closes, and
// subscribes again for those that receive messages.
func (p *provided) resumed() {
	for _, i := range p.removeIf(p.closedByHost) {
		p.c.work.Go(func() { p.end(i) })
	}
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.channels {
		p.listen(i)
		i.announceAgain()
	}
}

func (p *provided) closedByHost(i *instance) bool {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	entry := p.c.feed.mirror.catalogEntry(i.key, p.c.opts.ClientID)
	return entry == nil || i.isListed() && entry.Channel != i.channel
}

// endAll ends all instances concurrently, after the last connection has ended.
func (p *provided) endAll() {
	var all sync.WaitGroup
	for _, i := range p.removeIf(func(*instance) bool { return true }) {
		all.Go(func() { p.end(i) })
	}
	all.Wait()
}

// removeIf takes out the instances that match. It must not run while a request
// does.
func (p *provided) removeIf(match func(*instance) bool) (removed []*instance) {
	p.mu.Lock()
	slots := slices.Collect(maps.Values(p.slots))
	p.mu.Unlock()
	for _, s := range slots {
		if i := p.at(s); i != nil && match(i) {
			removed = append(removed, p.remove(s))
		}
	}
	p.resetQueues()
	return removed
}

// end ends the handle and closes the instance without a request of the host.
func (p *provided) end(i *instance) {
	i.end()
	p.closeLate(i.now())
}

// closeLate closes an instance that the host no longer waits for.
func (p *provided) closeLate(i canvas.Instance) {
	ctx, cancel := context.WithTimeout(context.Background(), p.c.opts.Timeout)
	defer cancel()
	if err := i.Close(ctx); err != nil {
		p.c.opts.Logger.Info("closing an instance failed", "err", err)
	}
}

// text returns a field's value, "" if it is absent or cleared.
func text(f ahp.Field[string]) string {
	if f.Value == nil {
		return ""
	}
	return *f.Value
}
