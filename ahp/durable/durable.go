package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Temporary begins the name of a file that is being written.
const Temporary = ".new-"

// Replace writes data under a name, with mode 0600. A file of that name is replaced.
func Replace(name string, data []byte) error {
	if err := Rename(name, data); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

// Rename is [Replace] without the sync of the folder: the content is on disk before it
// gets the name, but the name is not. The caller syncs the folder, once for several files.
func Rename(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), Temporary+"*") // has mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, which is fine
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// SyncDir puts the names in a folder on disk. On Windows it does nothing: NTFS keeps
// names with the files, and folders cannot be synced.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
