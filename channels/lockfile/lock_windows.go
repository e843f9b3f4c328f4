package lockfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// lockedByte is the one byte that is locked. Nobody else can read what is locked
// here, so it is where no file has any.
const lockedByte = 1 << 30 // times 4 GiB

// Try takes the lock of a file for as long as the file is open. held says that
// somebody else has it.
func Try(f *os.File) (held bool, err error) { return try(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// TryShared is Try for who shares the lock with others that do the same.
func TryShared(f *os.File) (held bool, err error) { return try(f, 0) }

func try(f *os.File, how uint32) (held bool, err error) {
	at := windows.Overlapped{OffsetHigh: lockedByte}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// Create makes a file with a new name in a folder. It can be renamed and removed
// while it is open, as one of package os cannot here.
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
