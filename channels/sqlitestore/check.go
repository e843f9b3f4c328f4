package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Report says what a store is.
type Report struct {
	Path    string `json:"path"`
	Format  int    `json:"format"`
	Store   string `json:"store"` // its id: a backup has another
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"` // of keys and values
	Commits uint64 `json:"commits"`
	// Closed says that the file alone is the whole store; else its log belongs to it.
	Closed bool `json:"closed"`
	// PID is the process that has the store now; 0 is nobody.
	PID int `json:"pid,omitzero"`
}

// Check reads and verifies a store and changes nothing, not even a file beside
// it. It works beside a running host, where the system lets it (else:
// ErrStoreBusy names that one). It fails as Open does, and with fs.ErrNotExist
// where no store is.
func Check(ctx context.Context, path string) (Report, error) {
	r, _, err := survey(ctx, path)
	return r, err
}

// Dump is Check, and then calls fn with every record in the order of their keys.
// It ends with fn's error.
func Dump(ctx context.Context, path string, fn func(key string, value []byte) error) (Report, error) {
	r, records, err := survey(ctx, path)
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

// Backup is Check, and then writes the records into a new store in the file to,
// which must not be there yet (fs.ErrExist). The report is the copy's. The copy
// is closed and has an id of its own. To restore it, move the old file away with
// all that is beside it, and copy the backup to its place.
func Backup(ctx context.Context, path, to string) (Report, error) {
	if _, err := os.Lstat(to); err == nil {
		return Report{}, fmt.Errorf("%s: %w", to, os.ErrExist)
	}
	_, records, err := survey(ctx, path)
	if err != nil {
		return Report{}, err
	}
	// A name that nobody has: what is beside the copy is somebody else's.
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+"-new*")
	if err == nil {
		err = become(ctx, f, to, records)
	}
	if err != nil {
		return Report{}, copying(to, err)
	}
	return Check(ctx, to)
}
