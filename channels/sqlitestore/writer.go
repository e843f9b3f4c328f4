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

// The bounds of what shares one sync. A single batch may be larger.
const (
	groupJobs  = 256
	groupBytes = 8 << 20
)

// job is a batch that wants to be committed, or something that is done alone.
type job struct {
	changes []channels.Change
	alone   func() error
	err     error // of what was done
}

func (j *job) size() (n int) {
	for _, c := range j.changes {
		n += len(c.Key) + len(c.Value)
	}
	return n
}

// writer is what uses the connection: whoever has the turn in its line. A job is
// taken in when it has the turn, or is taken along; until then it is its caller's.
type writer struct {
	path string
	log  *slog.Logger
	line groupcommit.Queue[*job]

	// Of who has the turn.
	c      *conn
	stmts  statements
	lock   *lock
	m      manifest
	rows   map[string]row // of each record, by key
	last   int64          // the highest id that was given
	first  []record       // what Open read, until it is loaded or changed
	grown  int            // what the log holds, about, in bytes
	broken error          // from then on everything is refused with it

	folded []change       // room for those of a group
	at     map[string]int // where in folded a record's change is

	company bool // the last batch shared its sync
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

// ask has a job done. ctx and stop end the waiting to be taken in, nothing else.
func (w *writer) ask(ctx context.Context, stop <-chan struct{}, j *job) error {
	select {
	case <-stop:
		return fmt.Errorf("%s: %w", w.path, channels.ErrStoreClosed)
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p := &groupcommit.Waiter[*job]{Value: j}
	switch w.line.Join(ctx, stop, p) {
	case groupcommit.Lead:
		w.serve(j)
	case groupcommit.Canceled:
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", w.path, channels.ErrStoreClosed)
	}
	return j.err
}

// serve does a job whose turn it is, and with it what waits already.
func (w *writer) serve(j *job) {
	w.gather()
	size := j.size()
	n := 1
	group := w.line.Take(func(next *job) bool {
		fits := j.alone == nil && next.alone == nil && n < groupJobs && size < groupBytes
		n, size = n+1, size+next.size()
		return fits
	})
	if j.alone != nil {
		j.err = j.alone()
	} else {
		jobs := make([]*job, len(group))
		for i, p := range group {
			jobs[i] = p.Value
		}
		w.commit(jobs)
	}
	w.company = len(group) > 1
	for _, p := range group {
		p.Finish(groupcommit.Done)
	}
	if w.grown < walBytes {
		w.line.Pass()
		return
	}
	go func() { // nobody who was answered waits for it, and Close does
		w.shrink()
		w.line.Pass()
	}()
}

// finish ends the writer when what was taken in is done. Its turn is the last:
// whoever waits behind it leaves, for the store is closed.
func (w *writer) finish() error {
	w.line.Join(context.Background(), nil, &groupcommit.Waiter[*job]{Value: &job{alone: w.end}})
	return w.end()
}

// gather lets callers run that were just answered, for as long as more of them
// come: what they want next shares this sync, too. Without that, two halves of them
// take turns. A caller who was alone the last time gathers nobody: to let others
// run costs the waking of a thread.
func (w *writer) gather() {
	for n := 0; w.company && n < w.line.Len(); {
		n = w.line.Len()
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

// commit applies a group with one sync and answers each job. Where the disk is
// full for all, each gets its own attempt: a large one must not fail the others.
func (w *writer) commit(group []*job) {
	w.first = nil
	err := w.try(group)
	if errors.Is(err, channels.ErrStoreFull) {
		w.shrink() // an empty log needs no room to grow into
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

// shrink copies the log into the file, so that the log begins anew. That it
// cannot now is no harm, as long as the disk is whole.
func (w *writer) shrink() {
	if w.broken != nil {
		return
	}
	w.grown = 0
	_, err := w.c.checkpoint(context.Background(), "PASSIVE")
	switch err := writing(w.path, err); {
	case err == nil:
	case errors.Is(err, channels.ErrStoreFull):
		w.log.Warn("store: no room for a checkpoint", "err", err)
	default:
		w.broken = err
	}
}
