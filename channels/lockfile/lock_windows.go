package lockfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// lockedByte is the position of the locked byte, in units of 4 GiB. Windows keeps
// other processes from reading locked bytes, so this one is beyond the end of any
// file.
const lockedByte = 1 << 30

// Try locks a file exclusively until the file is closed. held reports that another
// process, or another open file of this one, holds a lock on it.
func Try(f *os.File) (held bool, err error) { return try(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// TryShared is like Try, but files that are locked with TryShared do not exclude
// each other.
func TryShared(f *os.File) (held bool, err error) { return try(f, 0) }

func try(f *os.File, how uint32) (held bool, err error) {
	at := windows.Overlapped{OffsetHigh: lockedByte}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// Create makes a file with a unique name in dir. The file can be renamed and
// removed while it is open, unlike a file that package os opens on Windows.
func Create(dir string) (*os.File, error) {
	name := filepath.Join(dir, ".new-"+rand.Text())
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const access = windows.GENERIC_READ | windows.GENERIC_WRITE
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access, share, nil, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
