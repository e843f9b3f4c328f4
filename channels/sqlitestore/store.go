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

// FileName is the usual name of a store's file.
const FileName = "store.db"

// Options configures a Store. The zero value works.
type Options struct {
	// Logger logs problems that no caller's error reports, such as a checkpoint that
	// does not fit on the disk. It may be nil.
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

// Open opens the store in the file path, or creates an empty one if the file does not
// exist. Its folder must exist. Open reads and verifies the whole store. It fails with
// channels.ErrStoreBusy, ErrStoreDamaged, ErrStoreNewer, ErrStoreReadOnly, ErrStoreFull
// or ErrStoreBroken; the error names the file and says what to do, and the store is
// unchanged. The caller must close the store.
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
	log, err := prepareFile(ctx, path)
	if err != nil {
		return nil, err
	}
	logged := log >= minLog
	if log > 0 { // a read-write connection would apply or remove the log when it is closed
		if err := checkLog(ctx, path, l.mark, logged); err != nil {
			return nil, err
		}
	}
	c, err := connect(ctx, path, readWrite)
	if err != nil {
		return nil, err
	}
	m, records, err := readAll(ctx, c, path)
	if err == nil {
		err = checkComplete(path, m, l.mark, nil, logged)
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

// checkLog checks that the log beside a store belongs to it. It changes neither.
func checkLog(ctx context.Context, path string, at mark, logged bool) error {
	alone, err := readAlone(ctx, path)
	if err != nil {
		return err
	}
	m, _, err := readFile(ctx, path, path, readOnly)
	if err != nil {
		return err
	}
	return checkComplete(path, m, at, alone, logged)
}

// prepareFile creates the file if it does not exist, checks that it is writable, and
// returns the size of the log beside it. It must run before SQLite opens the file,
// because closing the file would release SQLite's locks on it.
func prepareFile(ctx context.Context, path string) (log int64, err error) {
	log, err = logSize(path)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) && log >= minLog:
		return 0, damaged(path, "it does not exist, but its log (-wal) does")
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
	err := s.w.do(ctx, s.stop, &job{exclusive: func() error { return s.w.read(&records) }})
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

// Commit implements channels.Store. Concurrent commits share a sync.
func (s *Store) Commit(ctx context.Context, changes ...channels.Change) error {
	for _, c := range changes {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return s.w.do(ctx, s.stop, &job{changes: changes})
}

// Close implements channels.Store. After it, the file without its log is the whole
// store. If Close fails, the log is needed too. Acknowledged commits are kept in
// either case.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.stop)
		s.closed = s.w.finish()
	})
	return s.closed
}

// Backup writes a verified copy of the store to the file to, which must not exist. It
// may run concurrently with commits. See the function [Backup].
func (s *Store) Backup(ctx context.Context, to string) (Report, error) {
	return Backup(ctx, s.path, to)
}
