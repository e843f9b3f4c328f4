package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Report describes a store.
type Report struct {
	// Path is the store's file.
	Path string `json:"path"`
	// Format is the version of the file's format.
	Format int `json:"format"`
	// Store is the store's id. A backup has another one.
	Store string `json:"store"`
	// Records is the number of records.
	Records int `json:"records"`
	// Bytes is the size of all keys and values.
	Bytes int64 `json:"bytes"`
	// Commits is the number of commits.
	Commits uint64 `json:"commits"`
	// Closed reports that the file without its log is the whole store.
	Closed bool `json:"closed"`
	// PID is the process that has the store open, or 0.
	PID int `json:"pid,omitzero"`
}

// Check reads and verifies a store. It changes neither the store nor any file beside
// it. It also works while a host has the store open; if the system does not allow
// that, it returns ErrStoreBusy. Otherwise it fails like Open, or with fs.ErrNotExist
// if there is no store.
func Check(ctx context.Context, path string) (Report, error) {
	r, _, err := inspect(ctx, path)
	return r, err
}

// Dump checks a store like Check, and then calls fn with every record in the order of
// their keys. It stops at the first error of fn and returns it.
func Dump(ctx context.Context, path string, fn func(key string, value []byte) error) (Report, error) {
	r, records, err := inspect(ctx, path)
	if err != nil {
		return r, err
	}
	for _, each := range records {
		if err := fn(each.key, each.value); err != nil {
			return r, err
		}
	}
	return r, nil
}

// Backup checks a store like Check, and then writes its records to a new store in the
// file to. If that file exists, Backup returns fs.ErrExist. The report describes the
// copy, which is closed and has its own id. To restore it, move the old file away with
// the files beside it, and copy the backup to its path.
func Backup(ctx context.Context, path, to string) (Report, error) {
	if _, err := os.Lstat(to); err == nil {
		return Report{}, fmt.Errorf("%s: %w", to, os.ErrExist)
	}
	_, records, err := inspect(ctx, path)
	if err != nil {
		return Report{}, err
	}
	// The name must be unique: other files beside the copy are not ours to replace.
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+"-new*")
	if err == nil {
		err = fillAndRename(ctx, f, to, records)
	}
	if err != nil {
		return Report{}, copying(to, err)
	}
	return Check(ctx, to)
}
