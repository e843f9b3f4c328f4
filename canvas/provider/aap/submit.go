package aap

import (
	"context"
	"os"
	"runtime"

	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

const (
	maxGroup   = 64      // records that share one sync of the folder
	maxSyncing = 8       // of their files that are synced at a time
	tempPrefix = ".aap-" // names of temporary files
)

// submission is an interaction on its way to the disk.
type submission struct {
	agent Agent
	in    Interaction
	rec   Record
	err   error
	done  chan struct{} // closed when rec or err is set

	temp   string   // its temporary name
	file   *os.File // it, until it is synced
	linked bool     // it has its own name
	closed bool     // done is closed
}

// Submit stores an interaction of an agent's page. When it returns without an error, the
// record is on the disk and watchers have been called. Its errors are *Error or ctx's; an
// interaction whose ctx ended may have been stored.
func (s *Store) Submit(ctx context.Context, agent string, in Interaction) (Record, error) {
	a, err := s.Agent(agent)
	if err != nil {
		return Record{}, err
	}
	in.Data = in.Data.Clone()
	if err := in.validate(true); err != nil {
		return Record{}, err
	}
	sh, sub := s.shelf(a), &submission{agent: a, in: in, done: make(chan struct{})}
	if earlier := sh.enter(sub); earlier != nil {
		select {
		case <-earlier.done:
			return earlier.rec, earlier.err
		case <-ctx.Done():
			return Record{}, context.Cause(ctx)
		}
	}
	if !sh.allow(s.now(), s.limits) {
		sub.err = errorf(CodeRateLimited, "", "Agent '%s' gets too many interactions; try again in a second", a.Name)
		sub.close(sh)
		return Record{}, sub.err
	}
	sh.join(ctx, sub)
	return sub.rec, sub.err
}

// close ends a submission: others that have its ref learn the outcome.
func (sub *submission) close(sh *shelf) {
	if sub.err != nil {
		sh.forget(sub)
	}
	sub.closed = true
	close(sub.done)
}

// join stores a submission, or waits until another caller has.
func (sh *shelf) join(ctx context.Context, sub *submission) {
	w := &groupcommit.Waiter[*submission]{Value: sub}
	switch sh.queue.Join(ctx, nil, w) {
	case groupcommit.Canceled:
		sub.err = context.Cause(ctx)
		sub.close(sh)
	case groupcommit.Lead:
		sh.lead()
	}
}

// lead stores the group of a leader. A panic does not keep the next group from the disk.
func (sh *shelf) lead() {
	runtime.Gosched() // callers that the last group woke come into this one, not into a third
	n := 0
	group := sh.queue.Take(func(*submission) bool { n++; return n < maxGroup })
	subs := make([]*submission, len(group))
	for i, w := range group {
		subs[i] = w.Value
	}
	defer func() {
		for _, w := range group {
			if sub := w.Value; !sub.closed {
				sub.rec, sub.err = Record{}, errorf(CodeInternal, "", "storing an interaction failed")
				sub.close(sh)
			}
			w.Finish(groupcommit.Done)
		}
		sh.queue.Pass()
	}()
	sh.commit(subs)
}

// commit stores a group and reports it, in the order of the records' timestamps.
func (sh *shelf) commit(group []*submission) {
	s := sh.store
	root, err := sh.open(group[0].agent)
	if err != nil {
		err = s.failed("storing an interaction", err)
	} else {
		sh.write(root, group)
		err = sh.publish(root, group)
		_ = root.Close() // it was synced
	}
	for _, sub := range group {
		if err != nil && sub.err == nil {
			sub.rec, sub.err = Record{}, err
		}
		if sub.err == nil {
			sh.count++
			s.watch.report(Change{Kind: RecordStored, Agent: sub.agent, File: sub.rec.CanvasFile, Record: sub.rec, Source: sub.in.Source})
		}
		sub.close(sh)
	}
}
