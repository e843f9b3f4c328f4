package sqlitestore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// inspect reads a store without changing it. If a host has it open, inspect is one
// more reader. If a killed host left a log, inspect copies file and log to a temporary
// folder and recovers the copy. A closed file it reads directly.
func inspect(ctx context.Context, path string) (r Report, records []record, err error) {
	defer func() { err = opening(path, err) }()
	if _, err := os.Stat(path); err != nil {
		return r, nil, err
	}
	l, held, pid, err := shareLock(path)
	if err != nil {
		return r, nil, err
	}
	defer l.release()
	var m manifest
	logged := held
	if held {
		m, records, err = readFile(ctx, path, path, readOnly)
	} else {
		m, records, logged, err = inspectUnlocked(ctx, path, l.found())
	}
	r = report(path, pid, m, records)
	r.Closed = r.Closed && !logged // a host that closed beside a reader left its log
	return r, records, err
}

// inspectUnlocked reads a store that no host has open. logged reports whether it has a
// log.
func inspectUnlocked(ctx context.Context, path string, at mark) (m manifest, records []record, logged bool, err error) {
	if err := checkHead(path); err != nil {
		return m, nil, false, err
	}
	log, err := logSize(path)
	if err != nil {
		return m, nil, false, err
	}
	logged = log >= minLog
	var alone *manifest
	if logged {
		if alone, err = readAlone(ctx, path); err != nil {
			return m, nil, logged, err
		}
		m, records, err = readCopy(ctx, path)
	} else {
		m, records, err = readFile(ctx, path, path, immutable)
	}
	if err == nil {
		err = checkComplete(path, m, at, alone, logged)
	}
	return m, records, logged, err
}

// readCopy recovers a copy of a store with its log.
func readCopy(ctx context.Context, path string) (m manifest, records []record, err error) {
	dir, err := os.MkdirTemp("", "ahp-canvas-check-")
	if err != nil {
		return m, nil, err
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, FileName)
	if err := errors.Join(copyFile(path, at), copyFile(path+"-wal", at+"-wal")); err != nil {
		return m, nil, err
	}
	return readFile(ctx, path, at, readWrite)
}

func report(path string, pid int, m manifest, records []record) Report {
	r := Report{Path: path, PID: pid, Format: format, Store: m.Store, Records: len(records), Commits: m.Commits, Closed: !m.Open}
	for _, each := range records {
		r.Bytes += int64(len(each.key) + len(each.value))
	}
	return r
}

// readFile reads the store path from the file at, which is the store or a copy.
func readFile(ctx context.Context, path, at, mode string) (m manifest, records []record, err error) {
	c, err := connect(ctx, at, mode)
	if err != nil {
		return m, nil, reading(path, err)
	}
	m, records, err = readAll(ctx, c, path)
	return m, records, errors.Join(err, c.close())
}

// checkHead checks the journal mode in the header, which SQLite does not check in
// immutable mode.
func checkHead(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var head [20]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || head[18] != 2 || head[19] != 2 {
		return damaged(path, "its header is not that of a store")
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
