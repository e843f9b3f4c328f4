package aap

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

const (
	maxScanned     = 10_000  // records that a list with a filter opens
	maxRecordBytes = 1 << 20 // of another writer's record
	racy           = 2_000   // ms after which a folder's time identifies its content
	defaultList    = 50      // records
	maxID          = 128     // bytes of a record's id
)

// Query says which records to list.
type Query struct {
	// Limit is the number of records; default 50.
	Limit int
	// Before is the id of a record; the list has older ones. "" begins at the newest.
	Before string
	// File limits the list to one page, among the newest 10,000 records; "" is all.
	File string
}

// index caches the sorted names of an agent's record files.
type index struct {
	mu      sync.Mutex
	names   []string
	version fileVersion
	scanned time.Time
}

// load returns the names, oldest first. The result must not be changed.
func (x *index) load(root *os.Root, now time.Time) ([]string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	info, err := root.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	version := fileVersion{0, info.ModTime(), true}
	if version == x.version && x.scanned.Sub(version.at) > racy*time.Millisecond {
		return x.names, nil
	}
	dir, err := root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	x.names = slices.DeleteFunc(all, func(name string) bool { return !strings.HasSuffix(name, ".json") || name[0] == '.' })
	slices.Sort(x.names)
	x.version, x.scanned = version, now
	return x.names, nil
}

// List returns records of an agent, newest first, and whether there are older ones.
// Records of other writers are as they stand; files that are not JSON objects are left
// out. Its errors are *Error.
func (s *Store) List(agent string, q Query) (records []ahp.Value, more bool, err error) {
	a, root, names, err := s.records(agent)
	if err != nil || root == nil {
		return nil, false, err
	}
	defer root.Close()
	if q.Before != "" {
		at := find(names, q.Before)
		if at < 0 {
			return nil, false, errorf(CodeInvalidField, "before", "before must be the id of a record")
		}
		names = names[:at]
	}
	limit, opened, broken := q.Limit, 0, 0
	if limit <= 0 {
		limit = defaultList
	}
	for i := len(names) - 1; i >= 0; i-- {
		if opened++; q.File != "" && opened > maxScanned {
			break
		}
		v, ok := readRecord(root, names[i])
		switch {
		case !ok:
			broken++
		case q.File != "" && pageOf(v) != q.File:
		case len(records) == limit:
			more = true
			i = 0
		default:
			records = append(records, v)
		}
	}
	s.countBroken(a, broken)
	return records, more, nil
}

// records opens an agent's folder. Without a folder, root is nil.
func (s *Store) records(agent string) (a Agent, root *os.Root, names []string, err error) {
	if a, err = s.Agent(agent); err != nil {
		return a, nil, nil, err
	}
	root, err = s.openRoot(a, false)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil, nil, nil
	}
	if err == nil {
		if names, err = s.shelf(a).index.load(root, s.now()); err != nil {
			_ = root.Close() // it was only read
		}
	}
	if err != nil {
		return a, nil, nil, s.failed("listing interactions", err)
	}
	return a, root, names, nil
}

// find returns the place of the record with an id, or -1.
func find(names []string, id string) int {
	if len(id) == 0 || len(id) > maxID || strings.Contains(id, "/") {
		return -1
	}
	suffix := "-" + id + ".json"
	for i := len(names) - 1; i >= 0; i-- {
		if strings.HasSuffix(names[i], suffix) {
			return i
		}
	}
	return -1
}

// Record returns the record with an id. Its errors are *Error.
func (s *Store) Record(agent, id string) (ahp.Value, error) {
	_, root, names, err := s.records(agent)
	if err != nil {
		return nil, err
	}
	if root != nil {
		defer root.Close()
		if at := find(names, id); at >= 0 {
			if v, ok := readRecord(root, names[at]); ok {
				return v, nil
			}
		}
	}
	return nil, errorf(CodeNotFound, "", "Interaction '%s' not found", clean(cut(id, maxID)))
}

// readRecord returns a record's content, and whether it is a JSON object.
func readRecord(root *os.Root, name string) (ahp.Value, bool) {
	raw, _, err := readRegular(root, folder+"/"+name, maxRecordBytes)
	if err != nil {
		return nil, false
	}
	v := ahp.Value(bytes.TrimSpace(raw))
	if v.Kind() != '{' || v.Compact() != nil {
		return nil, false
	}
	return v, true
}

// pageOf returns the page of any writer's record; "" if it names none.
func pageOf(record ahp.Value) string {
	var m struct {
		CanvasFile ahp.Value `json:"canvasFile,omitzero"`
	}
	var file string
	if ahp.Unmarshal(record, &m) != nil || m.CanvasFile.Kind() != '"' || ahp.Unmarshal(m.CanvasFile, &file) != nil {
		return ""
	}
	return file
}

// countBroken logs malformed files, once for each agent.
func (s *Store) countBroken(a Agent, n int) {
	if n == 0 {
		return
	}
	sh := s.shelf(a)
	sh.mu.Lock()
	first := !sh.logged
	sh.logged = true
	sh.mu.Unlock()
	if first {
		s.logger.Warn("aap: files among the interactions are not records; they are left out", "files", n)
	}
}

// errTooBig is returned for a file above its limit.
var errTooBig = errors.New("the file is too large")

// readRegular reads a regular file of at most limit bytes. Anything else, also a symbolic
// link and a pipe, is fs.ErrNotExist, even if it replaces the file meanwhile.
func readRegular(root *os.Root, name string, limit int) ([]byte, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil || !before.Mode().IsRegular() {
		return nil, nil, fs.ErrNotExist
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !os.SameFile(before, info) {
		return nil, nil, fs.ErrNotExist
	}
	if info.Size() > int64(limit) {
		return nil, nil, errTooBig
	}
	buf := make([]byte, 0, info.Size()+1)
	b := bytes.NewBuffer(buf)
	if _, err := b.ReadFrom(io.LimitReader(f, int64(limit)+1)); err != nil {
		return nil, nil, err
	}
	if b.Len() > limit {
		return nil, nil, errTooBig
	}
	return b.Bytes(), info, nil
}

// replace writes a file, synced, in the place of an older one.
func replace(root *os.Root, dir, name string, data []byte) error {
	temp := path.Join(dir, tempPrefix+uuid.NewString())
	err := writeSynced(root, temp, data)
	if err == nil {
		err = root.Rename(temp, path.Join(dir, name))
	}
	if err != nil {
		_ = root.Remove(temp) // it might not exist
		return err
	}
	return syncFolder(root.Open(dir))
}
