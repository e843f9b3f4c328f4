package sqlitestore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// walBytes is how much the log may grow before it is copied into the file.
const walBytes = 4 << 20

// wholeLog is the size from which a log has something in it: its head has walHead
// bytes, a page 24 more than its own.
const (
	walHead  = 32
	wholeLog = walHead + 24 + 512
)

// layOut gives an empty log its whole size, in zeros. A sync of what lies inside a
// file has no size and no place on the disk to write, and lasts about two thirds
// of one that makes the file longer. To SQLite a log with zeros for a head is empty,
// and zeros behind its last page are its end. It closes the log, which is safe:
// SQLite's locks are on the other two files.
//
// Where the disk has no room for it, the log grows as it is needed. Any other failure
// would come back at a commit, and is told before one is acknowledged.
func layOut(path string) error {
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
	// What the log held is in the file, and was cut off. That comes first on the disk:
	// zeros in the middle of what was cut would leave its first part by itself, which
	// is older than the file.
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

// logSize is the size of the log beside a store, 0 where there is none. One that is
// room and nothing else is as large as a head.
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
