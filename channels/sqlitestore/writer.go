package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

// The limits of a group, which shares one sync. A single batch may be larger.
const (
	groupJobs  = 256
	groupBytes = 8 << 20
)

// job is a batch to commit, or a function to run without other jobs.
type job struct {
	changes   []channels.Change
	exclusive func() error // nil for a batch
	err       error        // the result
}

func (j *job) size() (n int) {
	for _, c := range j.changes {
		n += len(c.Key) + len(c.Value)
	}
	return n
}

// writer commits jobs. The leader of its queue uses the connection. A job is accepted
// when it leads or is taken into a group; until then its caller can withdraw it.
type writer struct {
	path  string
	log   *slog.Logger
	queue groupcommit.Queue[*job]

	// Used by the leader only.
	c      *conn
	stmts  statements
	lock   *lock
	m      manifest
	rows   map[string]row // the row of each record, by key
	last   int64          // the highest id in use
	first  []record       // the records that Open has read, until Load or the first commit
	logged int            // estimated size of the log, in bytes
	broken error          // the error of all later jobs

	folded []change       // buffer for the changes of a group
	at     map[string]int // the position in folded of each key

	shared bool // the last group had more than one job
}

func newWriter(path string, c *conn, l *lock, m manifest, records []record) *writer {
	w := &writer{
		path: path, c: c, lock: l, m: m, first: records, rows: make(map[string]row, len(records)), at: map[string]int{},
	}
	for _, r := range records {
		w.rows[r.key] = r.row
		w.last = max(w.last, r.id)
	}
	return w
}

// do runs a job and returns its error. ctx and stop withdraw the job only until it is
// accepted.
func (w *writer) do(ctx context.Context, stop <-chan struct{}, j *job) error {
	select {
	case <-stop:
		return fmt.Errorf("%s: %w", w.path, channels.ErrStoreClosed)
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p := &groupcommit.Waiter[*job]{Value: j}
	switch w.queue.Join(ctx, stop, p) {
	case groupcommit.Lead:
		w.lead(j)
	case groupcommit.Canceled:
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", w.path, channels.ErrStoreClosed)
	}
	return j.err
}

// lead runs a job that leads, together with the jobs that wait.
func (w *writer) lead(j *job) {
	w.gather()
	size := j.size()
	n := 1
	group := w.queue.Take(func(next *job) bool {
		fits := j.exclusive == nil && next.exclusive == nil && n < groupJobs && size < groupBytes
		n, size = n+1, size+next.size()
		return fits
	})
	if j.exclusive != nil {
		j.err = j.exclusive()
	} else {
		jobs := make([]*job, len(group))
		for i, p := range group {
			jobs[i] = p.Value
		}
		w.commit(jobs)
	}
	w.shared = len(group) > 1
	for _, p := range group {
		p.Finish(groupcommit.Done)
	}
	if w.logged < walBytes {
		w.queue.Pass()
		return
	}
	go func() { // Close waits for it, and acknowledged callers do not
		w.shrink()
		w.queue.Pass()
	}()
}

// finish ends the writer after the accepted jobs. It keeps the lead, and the jobs that
// wait are withdrawn because the store is closed.
func (w *writer) finish() error {
	w.queue.Join(context.Background(), nil, &groupcommit.Waiter[*job]{Value: &job{exclusive: w.end}})
	return w.end()
}

// gather yields the processor to the callers of the last group for as long as more of
// them queue a new job, so that those jobs share this sync. Otherwise the callers would
// split into two groups that alternate. After a lone job gather does nothing, because
// yielding can wake a thread.
func (w *writer) gather() {
	for n := 0; w.shared && n < w.queue.Len(); {
		n = w.queue.Len()
		runtime.Gosched()
		runtime.Gosched()
	}
}

func (w *writer) read(to *[]record) (err error) {
	switch {
	case w.broken != nil:
		return w.broken
	case w.first != nil:
		*to, w.first = w.first, nil
		return nil
	}
	_, *to, err = readAll(context.Background(), w.c, w.path)
	return err
}

// commit applies a group with one sync. If the disk is full, it tries each job alone,
// so that a large one does not fail the others.
func (w *writer) commit(group []*job) {
	w.first = nil
	err := w.try(group)
	if errors.Is(err, channels.ErrStoreFull) {
		w.shrink() // so that the log need not grow
		for _, j := range group {
			j.err = w.try([]*job{j})
		}
		return
	}
	for _, j := range group {
		j.err = err
	}
}

func (w *writer) try(group []*job) error {
	if w.broken != nil {
		return w.broken
	}
	err := w.apply(group)
	if errors.Is(err, channels.ErrStoreBroken) {
		w.broken = err
	}
	return err
}

// shrink runs a checkpoint, so that the log is written from its start again. A full
// disk or a reader may prevent that without harm.
func (w *writer) shrink() {
	if w.broken != nil {
		return
	}
	w.logged = 0
	_, err := w.c.checkpoint(context.Background(), "PASSIVE")
	switch err := writing(w.path, err); {
	case err == nil:
	case errors.Is(err, channels.ErrStoreFull):
		w.log.Warn("store: no disk space for a checkpoint", "err", err)
	default:
		w.broken = err
	}
}
