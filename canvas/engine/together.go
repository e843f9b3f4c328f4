package engine

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

// What flows change is made durable and then visible (canvas.md section 3). Flows
// that come while another's change is on its way wait for it, and then go as one:
// one batch of the store, one transaction of the log, and one action for each
// catalogue that they change. A flow that comes alone waits for nobody.

// The bounds of a group. A single change may be larger.
const (
	groupFlows = 256
	groupBytes = 8 << 20
)

// change is what one flow wants to be kept and then shown.
type change struct {
	place     groupcommit.Waiter[*change]
	ctx       context.Context // ends the waiting for the store to take it in
	records   []channels.Change
	otherwise string // what is said where they cannot be kept
	publish   func(tx *channels.Tx, rows *rowChanges) error

	kept bool // the records are in the store
	err  error
}

func (c *change) size() (n int) {
	for _, r := range c.records {
		n += len(r.Key) + len(r.Value)
	}
	return n
}

// What a flow is told that was taken along.
const (
	settled  = groupcommit.Done     // kept and err say how
	byItself = groupcommit.Done + 1 // the group could not be kept: each goes by itself
)

// settle commits a change's records and then runs its publish in a transaction. kept
// says that the records are in the store, also where publish failed.
func (s *Engine) settle(c *change) (kept bool, err error) {
	if len(c.records) == 0 {
		s.publish([]*change{c})
		return true, c.err
	}
	c.place.Value = c
	switch s.line.Join(c.ctx, nil, &c.place) {
	case groupcommit.Lead:
		s.lead(c)
	case byItself:
		s.alone(c)
	case groupcommit.Canceled:
		c.err = ended(c.ctx)
	}
	return c.kept, c.err
}

// lead takes own, whose turn it is, and what waits behind it on its way, and gives
// the turn on.
func (s *Engine) lead(own *change) {
	n, size := 1, own.size()
	places := s.line.Take(func(next *change) bool {
		fits := n < groupFlows && size < groupBytes
		n, size = n+1, size+next.size()
		return fits
	})
	if len(places) == 1 {
		s.alone(own)
		s.line.Pass()
		return
	}
	group := make([]*change, len(places))
	for i, p := range places {
		group[i] = p.Value
	}
	word := byItself
	err := s.commitAll(group)
	s.line.Pass() // the next group's commit begins while this one is published
	if err == nil {
		word = settled
		s.publish(group)
	}
	for _, p := range places {
		p.Finish(word)
	}
	if word == byItself {
		s.alone(own)
	}
}

// commitAll commits a group as one batch. Where that fails, nothing of it is kept,
// and each tries for itself: one that is too large, or whose time is over, must not
// fail the others.
func (s *Engine) commitAll(group []*change) error {
	all := make([]channels.Change, 0, 2*len(group))
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

func (s *Engine) alone(c *change) {
	if c.err = s.commitOr(c.ctx, c.otherwise, c.records); c.err == nil {
		c.kept = true
		s.publish([]*change{c})
	}
}

// publish makes what is durable visible, in one transaction: channels first, then
// the catalogues, then the end of channels.
func (s *Engine) publish(group []*change) {
	err := s.log.Update(func(tx *channels.Tx) error {
		s.together(tx, func(rows *rowChanges) {
			for _, c := range group {
				c.err = c.publish(tx, rows)
			}
		})
		return nil
	})
	if err != nil {
		for _, c := range group {
			c.err = err
		}
	}
}
