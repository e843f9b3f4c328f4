package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// The two tables, in the text that SQLite stores: a file with other tables does not
// have this format. A record's row has a number that the writer knows from memory, so
// there is no index on the keys. New records are on the same pages, whatever their
// keys are, so that a sync writes little.
const (
	recordTable   = "CREATE TABLE record (id INTEGER NOT NULL PRIMARY KEY, key BLOB NOT NULL, value BLOB NOT NULL, crc INTEGER NOT NULL) STRICT"
	manifestTable = "CREATE TABLE manifest (one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL, body TEXT NOT NULL, crc INTEGER NOT NULL) STRICT"
)

const (
	putRecord    = "INSERT OR REPLACE INTO record (id, key, value, crc) VALUES (?, ?, ?, ?)"
	deleteRecord = "DELETE FROM record WHERE id = ?"
	putManifest  = "INSERT OR REPLACE INTO manifest (one, format, body, crc) VALUES (1, ?, ?, ?)"
)

// create creates a store with records. It writes the file under another name and then
// renames it, so that a file with this name is always a whole store. If the file
// exists, create returns fs.ErrExist.
func create(ctx context.Context, path string, records []record) (err error) {
	made := path + "-new"
	for _, left := range []string{made, made + "-wal", made + "-shm"} { // of a process that was killed
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(made, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return fillAndRename(ctx, f, path, records)
}

// fillAndRename writes a store with records to an empty file, and then renames the
// file to path.
func fillAndRename(ctx context.Context, f *os.File, path string, records []record) error {
	made := f.Name()
	defer os.Remove(made) // path is a link to the file by then
	if err := f.Close(); err != nil {
		return err
	}
	if err := fill(ctx, made, records); err != nil {
		return err
	}
	if err := rename(made, path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// rename gives a file another name, and fails if that exists.
func rename(made, path string) error {
	err := os.Link(made, path)
	if err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); err == nil { // a file system without links
		return fmt.Errorf("%s: %w", path, os.ErrExist)
	}
	return os.Rename(made, path)
}

// fill writes a store to an empty file, which is whole without a log afterwards.
func fill(ctx context.Context, path string, records []record) (err error) {
	c, err := connect(ctx, path, readWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for _, do := range []string{"PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE", recordTable, manifestTable} {
		if err := c.exec(ctx, do); err != nil {
			return err
		}
	}
	if err := insert(ctx, c, records); err != nil {
		return err
	}
	if err := c.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	_, err = c.checkpoint(ctx, "TRUNCATE") // no other process has the file, so it becomes whole
	return err
}

// insert writes the records and the manifest of a new store.
func insert(ctx context.Context, c *conn, records []record) error {
	put, err := c.PrepareContext(ctx, putRecord)
	if err != nil {
		return err
	}
	defer put.Close()
	m := newManifest()
	for i, r := range records {
		key := []byte(r.key)
		sum := recordSum(key, r.value)
		if _, err := put.ExecContext(ctx, i+1, key, blob(r.value), int64(sum)); err != nil {
			return err
		}
		m.Records++
		m.Sum += uint64(sum)
	}
	body, crc := m.encode()
	return c.exec(ctx, putManifest, format, body, crc)
}

// blob returns value for SQLite, to which nil would be NULL.
func blob(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}
