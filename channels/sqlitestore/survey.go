package sqlitestore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// survey reads a store without changing it, in one of three ways. Beside a host
// it is one more reader. A closed file is read as it is. A file with a log that a
// host left when it was killed is copied with it to a folder for temporary files,
// and recovered there.
func survey(ctx context.Context, path string) (r Report, records []record, err error) {
	defer func() { err = opening(path, err) }()
	if _, err := os.Stat(path); err != nil {
		return r, nil, err
	}
	l, held, pid, err := peekLock(path)
	if err != nil {
		return r, nil, err
	}
	defer l.release()
	var m manifest
	logged := held
	if held {
		m, records, err = readFile(ctx, path, path, readOnly)
	} else {
		m, records, logged, err = surveyAlone(ctx, path, l.found())
	}
	r = report(path, pid, m, records)
	r.Closed = r.Closed && !logged // a host that was read when it ended left its log
	return r, records, err
}

// surveyAlone reads a store that no host has. logged says that there is a log.
func surveyAlone(ctx context.Context, path string, at mark) (m manifest, records []record, logged bool, err error) {
	if err := checkHead(path); err != nil {
		return m, nil, false, err
	}
	log, err := logSize(path)
	if err != nil {
		return m, nil, false, err
	}
	logged = log >= wholeLog
	var alone *manifest
	if logged {
		if alone, err = readAlone(ctx, path); err != nil {
			return m, nil, logged, err
		}
		m, records, err = readCopy(ctx, path)
	} else {
		m, records, err = readFile(ctx, path, path, frozen)
	}
	if err == nil {
		err = judge(path, m, at, alone, logged)
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

// readFile reads the store path, of which the file at is a copy or itself.
func readFile(ctx context.Context, path, at, mode string) (m manifest, records []record, err error) {
	c, err := connect(ctx, at, mode)
	if err != nil {
		return m, nil, reading(path, err)
	}
	m, records, err = readAll(ctx, c, path)
	return m, records, errors.Join(err, c.close())
}

// checkHead checks the journal's mode where SQLite does not look at it.
func checkHead(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var head [20]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || head[18] != 2 || head[19] != 2 {
		return damaged(path, "its head is not that of a store")
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
