package engine

import (
	"context"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

// committer makes the changes of flows durable, then visible (canvas/PROTOCOL.md
// section 3). Flows that come while another's commit is on its way wait for it and go
// as a group: one batch of the store, one transaction of the log, and one action for
// each catalog that they change. A flow that comes alone waits for no other.
type committer struct {
	log     *channels.Log
	store   channels.Store
	catalog *catalog
	timeout time.Duration // of a group's commit
	queue   groupcommit.Queue[*change]
}

// A group's limits. A single change may be larger.
const (
	groupFlows = 256
	groupBytes = 8 << 20
)

// change is what one flow commits and then publishes.
type change struct {
	waiter  groupcommit.Waiter[*change]
	ctx     context.Context // ends the wait for the store
	records []channels.Change
	failure string // begins the error if the store refuses the records
	publish func(tx *channels.Tx, changes *catalogChanges) error

	committed bool // the records are in the store
	err       error
}

// The failures of a commit, for the person who reads the error.
const (
	nothingChanged = "nothing was changed, because the host could not store it"
	notKnown       = "it is not known whether this was changed, because the host could not store it"
	stillListed    = "the canvas is stale now and still listed, because the host could not store its end"
)

func (c *change) size() (n int) {
	for _, r := range c.records {
		n += len(r.Key) + len(r.Value)
	}
	return n
}

// How a leader finishes the flows of its group.
const (
	finished = groupcommit.Done     // committed and err say how
	alone    = groupcommit.Done + 1 // the group could not be committed: each goes alone
)

// run commits a change's records and then runs its publish in a transaction. committed
// says that the records are in the store, also if publish failed.
func (c *committer) run(ch *change) (committed bool, err error) {
	if len(ch.records) == 0 {
		c.publish([]*change{ch})
		return true, ch.err
	}
	ch.waiter.Value = ch
	switch c.queue.Join(ch.ctx, nil, &ch.waiter) {
	case groupcommit.Lead:
		c.lead(ch)
	case alone:
		c.runAlone(ch)
	case groupcommit.Canceled:
		ch.err = ended(ch.ctx)
	}
	return ch.committed, ch.err
}

// lead commits and publishes own together with the flows that wait behind it, and
// passes the lead on.
func (c *committer) lead(own *change) {
	n, size := 1, own.size()
	waiters := c.queue.Take(func(next *change) bool {
		fits := n < groupFlows && size < groupBytes
		n, size = n+1, size+next.size()
		return fits
	})
	if len(waiters) == 1 {
		c.runAlone(own)
		c.queue.Pass()
		return
	}
	group := make([]*change, len(waiters))
	for i, w := range waiters {
		group[i] = w.Value
	}
	result := alone
	err := c.commitGroup(group)
	c.queue.Pass() // the next group's commit begins while this one is published
	if err == nil {
		result = finished
		c.publish(group)
	}
	for _, w := range waiters {
		w.Finish(result)
	}
	if result == alone {
		c.runAlone(own)
	}
}

// commitGroup commits a group as one batch. If that fails, nothing of it is committed
// and each flow goes alone: one that is too large, or whose time is over, must not fail
// the others.
func (c *committer) commitGroup(group []*change) error {
	all := make([]channels.Change, 0, 2*len(group))
	for _, ch := range group {
		all = append(all, ch.records...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	err := c.store.Commit(ctx, all...)
	for _, ch := range group {
		ch.committed = err == nil
	}
	return err
}

func (c *committer) runAlone(ch *change) {
	if ch.err = c.write(ch.ctx, ch.failure, ch.records); ch.err == nil {
		ch.committed = true
		c.publish([]*change{ch})
	}
}

// write commits records that nothing is published with. failure begins the error if the
// store refuses them.
func (c *committer) write(ctx context.Context, failure string, records []channels.Change) error {
	if err := c.store.Commit(ctx, records...); err != nil {
		if ctx.Err() != nil {
			return ended(ctx)
		}
		if failure == nothingChanged && errors.Is(err, channels.ErrStoreBroken) {
			failure = notKnown // it might be on disk, and appear after a restart
		}
		return canvas.Errorf(canvas.CodeStoreFailed, "%s: %v", failure, err)
	}
	return nil
}

// publish makes committed changes visible in one transaction: channels first, then the
// catalogs, then the end of channels.
func (c *committer) publish(group []*change) {
	err := c.log.Update(func(tx *channels.Tx) error {
		c.catalog.collect(tx, func(changes *catalogChanges) {
			for _, ch := range group {
				ch.err = ch.publish(tx, changes)
			}
		})
		return nil
	})
	if err != nil {
		for _, ch := range group {
			ch.err = err
		}
	}
}
