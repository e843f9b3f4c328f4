package sqlitestore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// walBytes is the size of the log from which a checkpoint runs.
const walBytes = 4 << 20

const (
	// walHead is the size of the log's header.
	walHead = 32
	// minLog is the size of the smallest log with a page: the header, a page's header,
	// and the smallest page.
	minLog = walHead + 24 + 512
)

// preallocate fills an empty log with zeros up to walBytes. A sync that does not extend
// the file need not write the file's size and extents, and takes two thirds of the
// time. To SQLite, a log whose header is zero is empty, and zeros after the last page
// end the log. Closing the log's file is safe, because SQLite's locks are on the other
// two files.
//
// If the disk is full, the log grows as needed instead. Any other failure would recur
// in a commit, so preallocate returns it before a commit is acknowledged.
func preallocate(path string) error {
	f, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	err = zero(f)
	if kindOf(err) == channels.ErrStoreFull {
		return f.Truncate(0)
	}
	return err
}

func zero(f *os.File) error {
	// The old log was checkpointed and truncated; sync that first. Otherwise a power
	// failure could leave zeros in the middle of the old log, and SQLite would apply its
	// first part, which is older than the file.
	if err := f.Sync(); err != nil {
		return err
	}
	zeros := make([]byte, 64<<10)
	for at := int64(0); at < walBytes; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros, at); err != nil {
			return err
		}
	}
	return f.Sync()
}

// logSize returns the size of the log beside a store: 0 if there is none, walHead if it
// is preallocated and empty.
func logSize(path string) (int64, error) {
	f, err := os.Open(path + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var head [walHead]byte
	_, err = f.ReadAt(head[:], 0)
	if err == nil && bytes.Equal(head[:], make([]byte, walHead)) {
		return walHead, nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return info.Size(), nil
}
