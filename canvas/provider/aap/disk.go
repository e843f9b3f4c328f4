package aap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// open opens the agent's folder of records. If there is none, it is made.
func (sh *shelf) open(a Agent) (records *os.Root, err error) {
	s := sh.store
	root, err := s.openRoot(a, true)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if records, err = root.OpenRoot(folder); errors.Is(err, fs.ErrNotExist) {
		if err = root.Mkdir(folder, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			if err = syncNew(root, sh.dir); err == nil {
				records, err = root.OpenRoot(folder)
			}
		}
	}
	if err != nil || sh.ready {
		return records, err
	}
	names, err := sh.index.load(root, s.now())
	if err != nil {
		_ = records.Close() // nothing was written
		return nil, err
	}
	sh.prepare(names, s.now())
	return records, nil
}

// syncNew makes new folders durable.
func syncNew(root *os.Root, dir string) error {
	if err := syncFolder(root.Open(".")); err != nil {
		return err
	}
	for range 2 { // canvas, and the agent's folder
		dir = filepath.Dir(dir)
		if err := syncFolder(os.Open(dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// write gives each submission of a group its record, and puts that into a synced
// temporary file. All files are written before the first is synced, so that the syncs
// share what the file system does for one.
func (sh *shelf) write(records *os.Root, group []*submission) {
	s := sh.store
	written := make([]*submission, 0, len(group))
	for _, sub := range group {
		if sh.count+len(written) >= s.limits.Records {
			sub.err = errorf(CodeStorageFull, "", "Agent '%s' has %d records, which is the limit; move files out of %s",
				sub.agent.Name, s.limits.Records, filepath.Join(sh.dir, folder))
			continue
		}
		in := sub.in
		sub.rec = Record{
			ID: s.newID(), Timestamp: sh.nextTime(s.now()).Format(timeLayout), CanvasFile: in.CanvasFile,
			Action: in.Action, Element: in.Element, Data: in.Data, Summary: Summary(in),
		}
		sub.temp = tempPrefix + sub.rec.ID
		var err error
		if sub.file, err = createFile(records, sub.temp, sub.rec.encode()); err != nil {
			sh.drop(records, sub, err)
			continue
		}
		written = append(written, sub)
	}
	sh.sync(records, written)
}

// sync syncs and closes the temporary files of a group.
func (sh *shelf) sync(records *os.Root, group []*submission) {
	if len(group) > 1 {
		for _, sub := range group {
			startWriting(sub.file)
		}
	}
	var next atomic.Int64
	work := func() {
		for n := next.Add(1) - 1; n < int64(len(group)); n = next.Add(1) - 1 {
			sub := group[n]
			if err := errors.Join(sub.file.Sync(), sub.file.Close()); err != nil {
				sh.drop(records, sub, err)
			}
			sub.file = nil
		}
	}
	var wg sync.WaitGroup
	for range min(len(group), maxSyncing) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// drop ends a submission that cannot be stored.
func (sh *shelf) drop(records *os.Root, sub *submission, err error) {
	_ = records.Remove(sub.temp) // it might not exist
	sub.rec, sub.err = Record{}, sh.store.failed("storing an interaction", err)
}

// createFile writes a new file, and leaves it open.
func createFile(root *os.Root, name string, data []byte) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(data); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// writeSynced writes a new file and syncs it.
func writeSynced(root *os.Root, name string, data []byte) error {
	f, err := createFile(root, name, data)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// publish gives the written files their own names, in order, and syncs the folder. If it
// fails, none of the group is stored.
func (sh *shelf) publish(records *os.Root, group []*submission) error {
	linked := 0
	for _, sub := range group {
		if sub.err != nil {
			continue
		}
		if err := link(records, sub.temp, sub.rec.FileName()); err != nil {
			sh.drop(records, sub, err)
			continue
		}
		sub.linked = true
		linked++
	}
	if linked == 0 {
		return nil
	}
	err := syncFolder(records.Open("."))
	if err == nil {
		return nil
	}
	for _, sub := range group {
		if sub.linked {
			_ = records.Remove(sub.rec.FileName()) // it is not acknowledged
		}
	}
	return sh.store.failed("storing an interaction", err)
}

// link renames a file without replacing another. A killed process leaves both names, or
// one of them.
func link(root *os.Root, from, to string) error {
	err := root.Link(from, to)
	if err == nil {
		return root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, exists := root.Lstat(to); exists == nil {
		return fs.ErrExist
	}
	return root.Rename(from, to) // a file system without hard links; the name has a UUID
}

// syncFolder syncs and closes a folder. Windows cannot, and needs no sync of folders.
func syncFolder(f *os.File, err error) error {
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && runtime.GOOS != "windows" {
		return err
	}
	return nil
}
