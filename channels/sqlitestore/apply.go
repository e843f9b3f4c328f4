package sqlitestore

import (
	"context"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// change is the last that a group does to a record.
type change struct {
	channels.Change
	row
	key   []byte // where it is set
	fresh bool   // the record was not there
}

// fold leaves of a group's changes the last one of each key, in the order of
// their first. It also returns the manifest that follows.
func (w *writer) fold(group []*job) (changes []change, m manifest) {
	m = w.m
	m.Commits += uint64(len(group))
	changes, at := w.folded[:0], w.at
	clear(at)
	for _, j := range group {
		for _, c := range j.changes {
			i, ok := at[c.Key]
			if !ok {
				i = len(changes)
				at[c.Key], changes = i, append(changes, change{})
			}
			changes[i].Change = c
		}
	}
	for i := range changes {
		m = w.count(&changes[i], m)
	}
	return changes, m
}

// count gives a change its row, and returns the manifest with it. An id is given
// once, also where the commit fails.
func (w *writer) count(c *change, m manifest) manifest {
	old, there := w.rows[c.Key]
	if there {
		m.Records, m.Sum = m.Records-1, m.Sum-uint64(old.sum)
	}
	if c.id = old.id; !c.Delete {
		if !there {
			w.last++
			c.id, c.fresh = w.last, true
		}
		c.key = []byte(c.Key)
		c.sum = recordSum(c.key, c.Value)
		m.Records, m.Sum = m.Records+1, m.Sum+uint64(c.sum)
	}
	return m
}

// apply commits a group as one transaction. With an error nothing of it is
// applied, or the error is ErrStoreBroken.
func (w *writer) apply(group []*job) error {
	changes, m := w.fold(group)
	defer func() { // the room is kept, not the records
		clear(changes)
		w.folded = changes[:0]
	}()
	if err := w.transact(changes, m); err != nil {
		return writing(w.path, err)
	}
	for _, c := range changes {
		if c.Delete {
			delete(w.rows, c.Key)
		} else {
			w.rows[c.Key] = c.row
		}
	}
	w.grown += grownBy(changes)
	// What the log kept is kept. A mark that cannot be written only means that a
	// cut log is not noticed.
	_ = w.lock.write(mark{m.Store, m.Commits})
	return nil
}

// grownBy is about what a commit adds to the log: new records stand together,
// others are each on a page of their own, and some pages lead there.
func grownBy(changes []change) int {
	n := 4 * pageBytes
	for _, c := range changes {
		n += len(c.Key) + len(c.Value)
		if !c.fresh {
			n += pageBytes
		}
	}
	return n
}

const pageBytes = 4096 // SQLite's own choice

// transact writes changes and the manifest, and syncs the log. No context can
// end it half way.
func (w *writer) transact(changes []change, m manifest) error {
	return w.c.Raw(func(any) (err error) {
		if err := run(w.stmts.begin); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				// It is not there any more where SQLite rolled back by itself.
				// Where it stays, the next one cannot begin and breaks the store.
				_ = run(w.stmts.rollback)
			}
		}()
		if err := w.stmts.dropAll(changes); err != nil {
			return err
		}
		if err := w.stmts.putAll(changes); err != nil {
			return err
		}
		body, crc := m.encode()
		if err := run(w.stmts.manifest, arg(int64(format)), arg(body), arg(crc)); err != nil {
			return err
		}
		if err := run(w.stmts.commit); err != nil {
			return err
		}
		w.m = m
		return nil
	})
}

// begin says in the file itself that a host has the store, before anything is
// acknowledged: from then on, the file without its log is known to be a part.
func (w *writer) begin() (err error) {
	ctx := context.Background()
	defer func() {
		if err != nil {
			w.stmts.close(w.c)
		}
	}()
	if err := w.stmts.prepare(ctx, w.c); err != nil {
		return writing(w.path, err)
	}
	// The mark of an earlier time goes first, where a closed copy was put back.
	if err := w.lock.write(mark{w.m.Store, w.m.Commits}); err != nil {
		return err
	}
	if err := w.lock.f.Sync(); err != nil {
		return err
	}
	m := w.m
	m.Open = true
	m.Commits++
	if err := w.transact(nil, m); err != nil {
		return writing(w.path, err)
	}
	whole, err := w.c.checkpoint(ctx, "TRUNCATE")
	if err == nil && !whole { // a host that ended a moment ago was being read
		return explain(w.path, channels.ErrStoreBusy, errors.New("another process reads it"))
	}
	if err != nil {
		return writing(w.path, err)
	}
	return writing(w.path, layOut(w.path))
}

// end closes the file, so that it is whole without a log. It is the last that the
// writer does, or what an Open does that failed.
func (w *writer) end() error {
	var errs []error
	if w.broken == nil {
		m := w.m
		m.Open = false
		m.Commits++
		whole, err := true, w.transact(nil, m)
		if err == nil {
			whole, err = w.c.checkpoint(context.Background(), "TRUNCATE")
		}
		if err == nil && !whole {
			err = stillRead(w.path)
		}
		errs = append(errs, writing(w.path, err))
	}
	w.stmts.close(w.c)
	return errors.Join(append(errs, w.c.close(), w.lock.release())...)
}
