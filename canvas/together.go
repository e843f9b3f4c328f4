package canvas

import (
	"context"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// together makes what flows change durable and then visible (canvas.md section 3).
// Flows that come while another's change is on its way wait for it, and then go as
// one: one batch of the store, one transaction of the log, and one action for each
// catalogue that they change. A flow that comes alone waits for nobody.
type together struct {
	mu      sync.Mutex
	busy    bool // a group is on its way
	waiting []*change
}

// The bounds of a group. A single change may be larger.
const (
	groupFlows = 256
	groupBytes = 8 << 20
)

// change is what one flow wants to be kept and then shown.
type change struct {
	ctx     context.Context // ends the waiting for the store to take it in
	records []channels.Change
	publish func(tx *channels.Tx, rows *rowChanges) error

	kept bool // the records are in the store
	err  error
	next chan step // what became of it while it waited; nil where it did not
	led  bool      // it was told to lead; guarded by together.mu
}

// step is what a change that waited is told.
type step uint8

const (
	settled step = iota // it went with a group: kept and err say how
	lead                // it is its turn, and that of all that wait
	alone               // the group could not be kept: it goes by itself
)

// settle commits records and then runs publish in a transaction. kept says that the
// records are in the store, also where publish failed.
func (s *Service) settle(ctx context.Context, records []channels.Change, publish func(*channels.Tx, *rowChanges) error) (kept bool, err error) {
	c := &change{ctx: ctx, records: records, publish: publish}
	if len(records) == 0 {
		s.publish([]*change{c})
		return true, c.err
	}
	switch s.together.join(c) {
	case lead:
		s.lead(c)
	case alone:
		s.alone(c)
	}
	return c.kept, c.err
}

// join waits until c's turn has come, or until it is settled.
func (t *together) join(c *change) step {
	t.mu.Lock()
	if !t.busy {
		t.busy, t.waiting = true, append(t.waiting, c)
		t.mu.Unlock()
		return lead
	}
	c.next = make(chan step, 1)
	t.waiting = append(t.waiting, c)
	t.mu.Unlock()
	select {
	case step := <-c.next:
		return step
	case <-c.ctx.Done():
	}
	if t.leave(c) {
		c.err = ended(c.ctx)
		return settled
	}
	return <-c.next
}

// leave takes a change back that nobody has taken up yet.
func (t *together) leave(c *change) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.waiting, c)
	if at < 0 || c.led {
		return false
	}
	t.waiting = slices.Delete(t.waiting, at, at+1)
	return true
}

// take returns those that go next.
func (t *together) take() []*change {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, bytes := 0, 0
	for n < len(t.waiting) && n < groupFlows && bytes < groupBytes {
		for _, r := range t.waiting[n].records {
			bytes += len(r.Key) + len(r.Value)
		}
		n++
	}
	group := slices.Clone(t.waiting[:n])
	t.waiting = slices.Delete(t.waiting, 0, n)
	return group
}

// pass gives the turn to the first that waits.
func (t *together) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy = len(t.waiting) > 0; t.busy {
		t.waiting[0].led = true
		t.waiting[0].next <- lead
	}
}

// lead takes own, which is the first that waits, and what waits behind it on its
// way, and gives the turn on.
func (s *Service) lead(own *change) {
	group := s.together.take()
	told := alone
	if len(group) == 1 {
		s.alone(own)
	} else if s.commitAll(group) == nil {
		s.publish(group)
		told = settled
	}
	s.together.pass()
	for _, c := range group {
		if c != own {
			c.next <- told
		}
	}
	if len(group) > 1 && told == alone {
		s.alone(own)
	}
}

// commitAll commits a group as one batch. Where that fails, nothing of it is kept,
// and each tries for itself: one that is too large, or whose time is over, must not
// fail the others.
func (s *Service) commitAll(group []*change) error {
	var all []channels.Change
	for _, c := range group {
		all = append(all, c.records...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeouts.Open)
	defer cancel()
	err := s.store.Commit(ctx, all...)
	for _, c := range group {
		c.kept = err == nil
	}
	return err
}

func (s *Service) alone(c *change) {
	if c.err = s.commit(c.ctx, c.records...); c.err == nil {
		c.kept = true
		s.publish([]*change{c})
	}
}

// publish makes what is durable visible, in one transaction: channels first, then
// the catalogues, then the end of channels.
func (s *Service) publish(group []*change) {
	err := s.log.Do(func(tx *channels.Tx) error {
		rows := rowChanges{of: map[string]*rowChange{}}
		for _, c := range group {
			c.err = c.publish(tx, &rows)
		}
		s.writeRows(tx, &rows)
		return nil
	})
	if err != nil {
		for _, c := range group {
			c.err = err
		}
	}
}
