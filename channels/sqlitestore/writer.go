package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// The bounds of what shares one sync. A single batch may be larger.
const (
	groupJobs  = 256
	groupBytes = 8 << 20
	// walBytes is how much the log may grow before it is copied into the file.
	walBytes = 4 << 20
)

// job is a batch that wants to be committed, or a load.
type job struct {
	changes []channels.Change
	load    *[]record
	done    chan error // buffered: the writer never waits for who asked
}

func (j *job) size() (n int) {
	for _, c := range j.changes {
		n += len(c.Key) + len(c.Value)
	}
	return n
}

// writer is the one goroutine that uses the connection. The queue has no room: a
// job is taken in when the writer takes it, and until then it is its caller's.
type writer struct {
	path  string
	log   *slog.Logger
	queue chan *job
	done  chan struct{} // closed when the goroutine has ended

	c      *conn
	stmts  statements
	lock   *lock
	m      manifest
	rows   map[string]row // of each record, by key
	last   int64          // the highest id that was given
	first  []record       // what Open read, until it is loaded or changed
	grown  int            // what the log holds, about, in bytes
	broken error          // from then on everything is refused with it
}

func newWriter(path string, c *conn, l *lock, m manifest, records []record) *writer {
	w := &writer{
		path: path, queue: make(chan *job), done: make(chan struct{}),
		c: c, lock: l, m: m, first: records, rows: make(map[string]row, len(records)),
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
	j.done = make(chan error, 1)
	select {
	case w.queue <- j:
		return <-j.done
	case <-ctx.Done():
		return ctx.Err()
	case <-stop:
		return fmt.Errorf("%s: %w", w.path, channels.ErrStoreClosed)
	}
}

// run does what is asked for until stop is closed.
func (w *writer) run(stop <-chan struct{}) {
	defer close(w.done)
	for {
		select {
		case j := <-w.queue:
			w.serve(j)
		case <-stop:
			return
		}
	}
}

// serve does a job, and with it what waits already.
func (w *writer) serve(j *job) {
	var group []*job
	for size := 0; j != nil && j.load == nil; {
		group, size = append(group, j), size+j.size()
		if j = nil; len(group) < groupJobs && size < groupBytes {
			j = w.next()
		}
	}
	w.commit(group)
	if j != nil {
		j.done <- w.read(j.load)
	}
	if w.grown >= walBytes {
		w.shrink()
	}
}

// next is a job that waits, or nil. Callers that were just answered get to run
// first: what they want next shares this sync, too. Without that, two halves of
// them take turns.
func (w *writer) next() *job {
	for range 2 {
		select {
		case j := <-w.queue:
			return j
		default:
			runtime.Gosched()
		}
	}
	return nil
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
	if len(group) == 0 {
		return
	}
	w.first = nil
	err := w.try(group)
	if errors.Is(err, channels.ErrStoreFull) {
		w.shrink() // an empty log needs no room to grow into
		for _, j := range group {
			j.done <- w.try([]*job{j})
		}
		return
	}
	for _, j := range group {
		j.done <- err
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
