package sqlitestore

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// FileName is the usual name of a store in a folder of its own.
const FileName = "store.db"

// Options is how a store is opened. Its zero value works.
type Options struct {
	// Logger hears of what a person should know and nobody is told of: a
	// checkpoint for which the disk has no room. Nil discards.
	Logger *slog.Logger
}

// Store is a channels.Store in one file.
type Store struct {
	path   string
	w      *writer
	stop   chan struct{} // closed by Close
	once   sync.Once
	closed error // what Close returns
}

var _ channels.Store = (*Store)(nil)

// Open opens the store in the file path, and makes an empty one where none is;
// its folder must be there. It reads and verifies all of it. It fails with channels.ErrStoreBusy,
// ErrStoreDamaged, ErrStoreNewer, ErrStoreReadOnly, ErrStoreFull or ErrStoreBroken,
// which name the file and what to do, and changes nothing then. Whoever opens a store must
// close it.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	w, err := open(ctx, path)
	if err != nil {
		return nil, opening(path, err)
	}
	w.log = o.Logger
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	return &Store{path: path, w: w, stop: make(chan struct{})}, nil
}

func open(ctx context.Context, path string) (*writer, error) {
	l, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	w, err := openLocked(ctx, path, l)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	return w, nil
}

func openLocked(ctx context.Context, path string, l *lock) (*writer, error) {
	log, err := look(ctx, path)
	if err != nil {
		return nil, err
	}
	logged := log >= wholeLog
	if log > 0 { // look first: a connection that writes applies or removes any log when it is closed
		if err := judgeLog(ctx, path, l.mark, logged); err != nil {
			return nil, err
		}
	}
	c, err := connect(ctx, path, readWrite)
	if err != nil {
		return nil, err
	}
	m, records, err := readAll(ctx, c, path)
	if err == nil {
		err = judge(path, m, l.mark, nil, logged)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	w := newWriter(path, c, l, m, records)
	if err := w.begin(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return w, nil
}

// judgeLog reads a store with its log and changes neither.
func judgeLog(ctx context.Context, path string, at mark, logged bool) error {
	alone, err := readAlone(ctx, path)
	if err != nil {
		return err
	}
	m, _, err := readFile(ctx, path, path, readOnly)
	if err != nil {
		return err
	}
	return judge(path, m, at, alone, logged)
}

// look makes the file where there is none, checks that it can be written, and
// returns how large the log beside it is. It runs while nobody has the file open:
// closing a file takes away the locks that SQLite has on it.
func look(ctx context.Context, path string) (log int64, err error) {
	log, err = logSize(path)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) && log >= wholeLog:
		return 0, damaged(path, "it is not there, but its log (-wal) is")
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Remove(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		return 0, create(ctx, path, nil)
	case err != nil:
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = damaged(path, "it is empty")
	}
	return log, err
}

// Load implements channels.Store.
func (s *Store) Load(ctx context.Context, fn func(key string, value []byte) error) error {
	var records []record
	err := s.w.ask(ctx, s.stop, &job{alone: func() error { return s.w.read(&records) }})
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(r.key, r.value); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements channels.Store. It shares a sync with those that wait beside
// it.
func (s *Store) Commit(ctx context.Context, changes ...channels.Change) error {
	for _, c := range changes {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return s.w.ask(ctx, s.stop, &job{changes: changes})
}

// Close implements channels.Store. Afterwards the file alone is the whole store.
// An error means that this could not be done, and that the log beside it is
// needed; what was acknowledged is kept either way.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.stop)
		s.closed = s.w.finish()
	})
	return s.closed
}

// Backup writes a verified copy of what is committed into the file to, which must
// not be there yet. It may run beside commits.
func (s *Store) Backup(ctx context.Context, to string) (Report, error) {
	return Backup(ctx, s.path, to)
}
