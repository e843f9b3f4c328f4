package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// damaged is the refusal of what is no whole store, with what a person can do.
func damaged(path, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w; run ahp-canvas state check, restore a backup, or move away %s with its -wal and -lock to begin anew",
		path, channels.ErrStoreDamaged, fmt.Errorf(format, args...), path)
}

// reading says what an error means that came up while a store was read: what is
// neither the disk's, the folder's nor the caller's fault is damage.
func reading(path string, err error) error {
	switch kind := kindOf(err); {
	case err == nil || known(err):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case kind != nil:
		return explain(path, kind, err)
	}
	switch code := codeOf(err); {
	case code == sqlite3.SQLITE_IOERR_SHMSIZE: // the first page of -shm has no room
		return explain(path, channels.ErrStoreFull, err)
	case code == sqlite3.SQLITE_IOERR_SHORT_READ || code == sqlite3.SQLITE_IOERR_CORRUPTFS || code&0xff != sqlite3.SQLITE_IOERR:
		return damaged(path, "%w", err)
	}
	return explain(path, channels.ErrStoreBroken, err)
}

// opening says what an error means that came up on the way to a store's content,
// or passes on what already says it.
func opening(path string, err error) error {
	switch kind := kindOf(err); {
	case err == nil || known(err):
		return err
	case kind != nil || codeOf(err) != 0:
		return reading(path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// writing says what an error means that came up while a store was written. What
// is not known to have left everything as it was is ErrStoreBroken.
func writing(path string, err error) error {
	switch kind := kindOf(err); {
	case err == nil || known(err):
		return err
	case kind == channels.ErrStoreFull || kind == channels.ErrStoreReadOnly:
		return explain(path, kind, err)
	default:
		return explain(path, channels.ErrStoreBroken, err)
	}
}

// advice is what a person can do, by kind of error.
var advice = map[error]string{
	channels.ErrStoreFull:     "make room; nothing is lost",
	channels.ErrStoreReadOnly: "make the folder and its files writable for this user, or give another one with --state",
	channels.ErrStoreBusy:     "stop it, or give this host a folder of its own with --state",
	channels.ErrStoreBroken:   "look after the disk, then start the host again",
}

func explain(path string, kind, cause error) error {
	return fmt.Errorf("%s: %w: %w; %s", path, kind, cause, advice[kind])
}

// copying says what an error means that came up while a copy was written, which is
// about the copy's place and not about the store.
func copying(to string, err error) error {
	switch kind := kindOf(err); {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case kind == channels.ErrStoreFull:
		return explain(to, kind, err)
	}
	return fmt.Errorf("%s: the copy cannot be written there: %v; give it another place", to, err)
}

// stillRead is what Close says of a log that cannot go into the file, because
// another process, as a check or a backup, reads the store.
func stillRead(path string) error {
	return fmt.Errorf("%s: %w: another process reads it, so that its log (-wal) stays beside it; nothing is lost, but copy neither without the other until a host has run again",
		path, channels.ErrStoreBusy)
}

// known reports whether err says already what it means.
func known(err error) bool {
	for _, kind := range []error{
		channels.ErrStoreFull, channels.ErrStoreReadOnly, channels.ErrStoreDamaged, channels.ErrStoreNewer,
		channels.ErrStoreBusy, channels.ErrStoreBroken, channels.ErrStoreClosed,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// codeOf is SQLite's result code, or 0.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// kindOf is the Err* that an error of the system or of SQLite stands for, or nil.
func kindOf(err error) error {
	if code := codeOf(err); code != 0 {
		return kindOfCode(code)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota):
		return channels.ErrStoreFull
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return channels.ErrStoreReadOnly
	}
	return nil
}

// kindOfCode is the same for a result code of SQLite. Its low byte is the primary
// code.
func kindOfCode(code int) error {
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return channels.ErrStoreFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return channels.ErrStoreReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return channels.ErrStoreBusy
	}
	return nil
}
