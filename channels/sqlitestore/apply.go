package sqlitestore

import (
	"context"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// change is the last change of a group to a record.
type change struct {
	channels.Change
	row
	key   []byte // nil if the record is deleted
	fresh bool   // the record did not exist
}

// fold returns the last change of a group to each key, in the order in which the keys
// first appear, and the manifest after them.
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

// count assigns a change its row, and returns the manifest with the change. An id is
// not reused, even if the commit fails.
func (w *writer) count(c *change, m manifest) manifest {
	old, exists := w.rows[c.Key]
	if exists {
		m.Records, m.Sum = m.Records-1, m.Sum-uint64(old.sum)
	}
	if c.id = old.id; !c.Delete {
		if !exists {
			w.last++
			c.id, c.fresh = w.last, true
		}
		c.key = []byte(c.Key)
		c.sum = recordSum(c.key, c.Value)
		m.Records, m.Sum = m.Records+1, m.Sum+uint64(c.sum)
	}
	return m
}

// apply commits a group as one transaction. If it fails, nothing was applied, unless
// the error is ErrStoreBroken.
func (w *writer) apply(group []*job) error {
	changes, m := w.fold(group)
	defer func() { // keep the capacity, not the records
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
	w.logged += logGrowth(changes)
	// The commit is durable. If the mark cannot be written, a truncated log might not be
	// detected.
	_ = w.lock.write(mark{m.Store, m.Commits})
	return nil
}

// logGrowth estimates by how many bytes a commit extends the log: new records share
// pages, each other record has a separate page, and some pages are the tree's.
func logGrowth(changes []change) int {
	n := 4 * pageBytes
	for _, c := range changes {
		n += len(c.Key) + len(c.Value)
		if !c.fresh {
			n += pageBytes
		}
	}
	return n
}

const pageBytes = 4096 // SQLite's default

// transact writes changes and the manifest, and syncs the log. It cannot be canceled.
func (w *writer) transact(changes []change, m manifest) error {
	return w.c.Raw(func(any) (err error) {
		if err := run(w.stmts.begin); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				// SQLite might have rolled back already. If the rollback fails and
				// the transaction stays open, the next one fails to begin, which
				// breaks the store.
				_ = run(w.stmts.rollback)
			}
		}()
		if err := w.stmts.deleteAll(changes); err != nil {
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

// begin marks the file as open before any commit is acknowledged. From then on, the
// file without its log is recognized as incomplete.
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
	// A restored copy has fewer commits than the old mark, so replace the mark first.
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
	if err == nil && !whole { // a reader of the previous host is still active
		return explain(w.path, channels.ErrStoreBusy, errors.New("another process reads it"))
	}
	if err != nil {
		return writing(w.path, err)
	}
	return writing(w.path, preallocate(w.path))
}

// end closes the store, so that the file is whole without a log. It is the writer's
// last action; Open also calls it on failure.
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
