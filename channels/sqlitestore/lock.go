package sqlitestore

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
)

// lock is the file beside the store that a host has locked while it has the
// store. It goes with the process, however that ends. It also holds the mark:
// the number of the last commit that somebody was told of. The mark is written
// after the log was synced and before the caller is answered, and is not synced
// itself, so that it never runs ahead of the log. A log that was lost or cut is
// behind it.
type lock struct {
	f    *os.File
	path string // the store's
	mark mark   // as it was found
}

type mark struct {
	store   string // "" where there is none that can be believed
	commits uint64
}

const markForm = "pid %010d\nstore %16s\ncommit %020d\n"

// takeLock locks a store for this process. ErrStoreBusy names who has it.
func takeLock(path string) (*lock, error) {
	f, err := os.OpenFile(lockName(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &lock{f: f, path: path}
	held, err := lockfile.Try(f)
	switch {
	case held:
		defer f.Close()
		if hosts, err := lockfile.TryShared(f); !hosts && err == nil {
			return nil, fmt.Errorf("%s: %w: a check or a backup reads it; start this host again when that is done", path, channels.ErrStoreBusy)
		}
		return nil, busy(path, l.read())
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	l.read()
	if err := l.write(l.mark); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// peekLock is takeLock for who only looks: it makes no file and changes none, and
// keeps hosts away, but nobody else who looks. It returns nil where no host ever had
// the store. Where one has it now, held is true, and pid is that one's process id as
// far as it is known.
func peekLock(path string) (l *lock, held bool, pid int, err error) {
	f, err := os.Open(lockName(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, 0, nil
	}
	if err != nil {
		return nil, false, 0, err
	}
	l = &lock{f: f, path: path}
	held, err = lockfile.TryShared(f)
	pid = l.read()
	if held || err != nil {
		return nil, held, pid, errors.Join(err, f.Close())
	}
	return l, false, 0, nil
}

func lockName(path string) string { return path + "-lock" }

func busy(path string, pid int) error {
	return explain(path, channels.ErrStoreBusy, fmt.Errorf("process %d has it", pid))
}

// read fills in the mark and returns the process that has or had the lock.
func (l *lock) read() (pid int) {
	var text [256]byte
	n, _ := l.f.ReadAt(text[:], 0)
	var m mark
	var sum uint32
	if _, err := fmt.Sscanf(string(text[:n]), markForm+"crc %08x\n", &pid, &m.store, &m.commits, &sum); err != nil {
		return pid
	}
	if bytes.HasPrefix(text[:n], sealed(markText(pid, m))) { // Sscanf takes more than was ever written
		l.mark = m
	}
	return pid
}

func markText(pid int, m mark) []byte { return fmt.Appendf(nil, markForm, pid, m.store, m.commits) }

// sealed is a mark's text with its checksum.
func sealed(text []byte) []byte {
	return fmt.Appendf(text, "crc %08x\n", crc32.Checksum(text, castagnoli))
}

// write keeps a mark. It survives the process, not yet the machine.
func (l *lock) write(m mark) error {
	if m.store == "" {
		m.store = "-"
	}
	_, err := l.f.WriteAt(sealed(markText(os.Getpid(), m)), 0)
	return err
}

// judge refuses what was read where it cannot be all that was ever acknowledged.
// at is the mark beside it, alone the manifest of the file without its log, and
// logged tells whether there was one. SQLite itself would apply any log.
func judge(path string, m manifest, at mark, alone *manifest, logged bool) error {
	switch {
	case alone != nil && (alone.Store != m.Store || alone.Commits > m.Commits):
		return damaged(path, "the log (-wal) beside it is that of another store, or of another time")
	case !m.Open: // whole without a log; a mark that is ahead is that of another time
		return nil
	case at.store == m.Store && m.Commits < at.commits:
		return damaged(path, "%d commits that were acknowledged are missing: its log (-wal) was lost or cut", at.commits-m.Commits)
	case at.store != m.Store && !logged:
		return damaged(path, "it was not closed, and its log (-wal) is not there: was it copied alone?")
	}
	return nil
}

func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}

// found is the mark that was there; without a lock file there is none.
func (l *lock) found() mark {
	if l == nil {
		return mark{}
	}
	return l.mark
}
