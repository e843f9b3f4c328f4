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

// damaged returns an ErrStoreDamaged with its cause and advice.
func damaged(path, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w; run ahp-canvas state check, restore a backup, or move %s away with its -wal and -lock files to start with an empty store",
		path, channels.ErrStoreDamaged, fmt.Errorf(format, args...), path)
}

// reading classifies an error of reading a store. An error that is not the disk's,
// the folder's or the caller's is damage.
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
	case code == sqlite3.SQLITE_IOERR_SHMSIZE: // no space for the first page of -shm
		return explain(path, channels.ErrStoreFull, err)
	case code == sqlite3.SQLITE_IOERR_SHORT_READ || code == sqlite3.SQLITE_IOERR_CORRUPTFS || code&0xff != sqlite3.SQLITE_IOERR:
		return damaged(path, "%w", err)
	}
	return explain(path, channels.ErrStoreBroken, err)
}

// opening classifies an error of opening a store, unless it is classified already.
func opening(path string, err error) error {
	switch kind := kindOf(err); {
	case err == nil || known(err):
		return err
	case kind != nil || codeOf(err) != 0:
		return reading(path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// writing classifies an error of writing a store. It is ErrStoreBroken unless the
// store is known to be unchanged.
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

// advice says what a person can do about an error.
var advice = map[error]string{
	channels.ErrStoreFull:     "free some disk space; nothing is lost",
	channels.ErrStoreReadOnly: "make the folder and its files writable for this user, or choose another folder with --state",
	channels.ErrStoreBusy:     "stop it, or choose another folder with --state",
	channels.ErrStoreBroken:   "check the disk, then start the host again",
}

func explain(path string, kind, cause error) error {
	return fmt.Errorf("%s: %w: %w; %s", path, kind, cause, advice[kind])
}

// copying classifies an error of writing a copy. It is about the copy's path, not
// about the store.
func copying(to string, err error) error {
	switch kind := kindOf(err); {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case kind == channels.ErrStoreFull:
		return explain(to, kind, err)
	}
	return fmt.Errorf("%s: the copy cannot be written there: %v; choose another path", to, err)
}

// stillRead is the error of a Close that cannot empty the log, because another
// process reads the store, such as a check or a backup.
func stillRead(path string) error {
	return fmt.Errorf("%s: %w: another process reads it, so its log (-wal) remains; nothing is lost, but copy neither file without the other until a host has run again",
		path, channels.ErrStoreBusy)
}

// known reports whether err is classified already.
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

// codeOf returns SQLite's result code, or 0.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// kindOf returns the Err* value for an error of the system or of SQLite, or nil.
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

// kindOfCode returns the Err* value for a result code of SQLite, or nil. The low byte
// of the result code is the primary code.
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
