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

// lock is the file beside the store that a host locks while it has the store open. The
// lock ends with the process. The file also holds the mark, the number of the last
// acknowledged commit. The mark is written after the log was synced and before Commit
// returns. It is not synced, so it is never newer than the log; if it is, the log was
// lost or truncated.
type lock struct {
	f    *os.File
	path string // of the store
	mark mark   // as takeLock or shareLock found it
}

type mark struct {
	store   string // "" if there is no valid mark
	commits uint64
}

const markForm = "pid %010d\nstore %16s\ncommit %020d\n"

// takeLock locks a store for this process. ErrStoreBusy names the process that has it.
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
			return nil, fmt.Errorf("%s: %w: a check or a backup reads it; start this host again when that has ended", path, channels.ErrStoreBusy)
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

// shareLock locks a store for reading. It excludes hosts but not other readers, and
// neither creates nor changes a file. It returns nil if no host ever had the store. If
// a host has it now, held is true and pid is the host's process id, if known.
func shareLock(path string) (l *lock, held bool, pid int, err error) {
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
	return explain(path, channels.ErrStoreBusy, fmt.Errorf("process %d has it open", pid))
}

// read sets the mark and returns the process that has or had the lock.
func (l *lock) read() (pid int) {
	var text [256]byte
	n, _ := l.f.ReadAt(text[:], 0)
	var m mark
	var sum uint32
	if _, err := fmt.Sscanf(string(text[:n]), markForm+"crc %08x\n", &pid, &m.store, &m.commits, &sum); err != nil {
		return pid
	}
	if bytes.HasPrefix(text[:n], sealed(markText(pid, m))) { // Sscanf accepts more than write produces
		l.mark = m
	}
	return pid
}

func markText(pid int, m mark) []byte { return fmt.Appendf(nil, markForm, pid, m.store, m.commits) }

// sealed returns a mark's text with its checksum.
func sealed(text []byte) []byte {
	return fmt.Appendf(text, "crc %08x\n", crc32.Checksum(text, castagnoli))
}

// write writes a mark without a sync: it survives the process, but not the machine.
func (l *lock) write(m mark) error {
	if m.store == "" {
		m.store = "-"
	}
	_, err := l.f.WriteAt(sealed(markText(os.Getpid(), m)), 0)
	return err
}

// checkComplete returns an error if a store that was read cannot have every
// acknowledged commit. at is the mark beside it, alone the manifest of the file
// without its log (nil if unknown), and logged whether it has a log. SQLite itself
// would apply any log.
func checkComplete(path string, m manifest, at mark, alone *manifest, logged bool) error {
	switch {
	case alone != nil && (alone.Store != m.Store || alone.Commits > m.Commits):
		return damaged(path, "the log (-wal) beside it belongs to another store, or is older")
	case !m.Open: // whole without a log; a newer mark is from before a restore
		return nil
	case at.store == m.Store && m.Commits < at.commits:
		return damaged(path, "%d commits that were acknowledged are missing: its log (-wal) was lost or cut", at.commits-m.Commits)
	case at.store != m.Store && !logged:
		return damaged(path, "it was not closed, and its log (-wal) is missing: was it copied without the log?")
	}
	return nil
}

func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}

// found returns the mark of the file; there is none without a lock file.
func (l *lock) found() mark {
	if l == nil {
		return mark{}
	}
	return l.mark
}
