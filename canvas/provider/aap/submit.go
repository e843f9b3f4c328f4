package aap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

const (
	maxGroup   = 64      // records that share one sync of the folder
	tempPrefix = ".aap-" // names of temporary files
)

// submission is an interaction on its way to the disk.
type submission struct {
	agent Agent
	in    Interaction
	rec   Record
	err   error
	done  chan struct{} // closed when rec or err is set

	data   []byte // of the record's file
	temp   string // its temporary name
	linked bool   // it has its own name
	closed bool   // done is closed
}

// Submit stores an interaction of an agent's page. When it returns without an error, the
// record is on the disk and watchers have been called. Its errors are *Error or ctx's; an
// interaction whose ctx ended may have been stored.
func (s *Store) Submit(ctx context.Context, agent string, in Interaction) (Record, error) {
	a, err := s.Agent(agent)
	if err != nil {
		return Record{}, err
	}
	in.Data = in.Data.Clone()
	if err := in.validate(true); err != nil {
		return Record{}, err
	}
	sh, sub := s.shelf(a), &submission{agent: a, in: in, done: make(chan struct{})}
	if earlier := sh.enter(sub); earlier != nil {
		select {
		case <-earlier.done:
			return earlier.rec, earlier.err
		case <-ctx.Done():
			return Record{}, context.Cause(ctx)
		}
	}
	if !sh.allow(s.now(), s.limits) {
		sub.err = errorf(CodeRateLimited, "", "Agent '%s' gets too many interactions; try again in a second", a.Name)
		sub.close(sh)
		return Record{}, sub.err
	}
	sh.join(ctx, sub)
	return sub.rec, sub.err
}

// close ends a submission: others that have its ref learn the outcome.
func (sub *submission) close(sh *shelf) {
	if sub.err != nil {
		sh.forget(sub)
	}
	sub.closed = true
	close(sub.done)
}

// join stores a submission, or waits until another caller has.
func (sh *shelf) join(ctx context.Context, sub *submission) {
	w := &groupcommit.Waiter[*submission]{Value: sub}
	switch sh.queue.Join(ctx, nil, w) {
	case groupcommit.Canceled:
		sub.err = context.Cause(ctx)
		sub.close(sh)
	case groupcommit.Lead:
		sh.lead()
	}
}

// lead stores the group of a leader. A panic does not keep the next group from the disk.
func (sh *shelf) lead() {
	n := 0
	group := sh.queue.Take(func(*submission) bool { n++; return n < maxGroup })
	subs := make([]*submission, len(group))
	for i, w := range group {
		subs[i] = w.Value
	}
	defer func() {
		for _, w := range group {
			if sub := w.Value; !sub.closed {
				sub.rec, sub.err = Record{}, errorf(CodeInternal, "", "storing an interaction failed")
				sub.close(sh)
			}
			w.Finish(groupcommit.Done)
		}
		sh.queue.Pass()
	}()
	sh.commit(subs)
}

// commit stores a group and reports it, in the order of the records' timestamps.
func (sh *shelf) commit(group []*submission) {
	s := sh.store
	root, err := sh.open(group[0].agent)
	if err != nil {
		err = s.failed("storing an interaction", err)
	} else {
		sh.write(root, group)
		err = sh.publish(root, group)
		_ = root.Close() // it was synced
	}
	for _, sub := range group {
		if err != nil && sub.err == nil {
			sub.rec, sub.err = Record{}, err
		}
		if sub.err == nil {
			sh.count++
			s.watch.report(Change{Kind: RecordStored, Agent: sub.agent, File: sub.rec.CanvasFile, Record: sub.rec, Source: sub.in.Source})
		}
		sub.data = nil
		sub.close(sh)
	}
}

// open opens the agent's canvas folder, with a folder for records in it.
func (sh *shelf) open(a Agent) (*os.Root, error) {
	s := sh.store
	root, err := s.openRoot(a, true)
	if err != nil {
		return nil, err
	}
	if err = root.Mkdir(folder, 0o700); err == nil {
		err = syncNew(root, sh.dir)
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil && !sh.ready {
		var names []string
		if names, err = sh.index.load(root, s.now()); err == nil {
			sh.prepare(names, s.now())
		}
	}
	if err != nil {
		_ = root.Close() // nothing was written
		return nil, err
	}
	return root, nil
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
// temporary file.
func (sh *shelf) write(root *os.Root, group []*submission) {
	s := sh.store
	taken := 0
	for _, sub := range group {
		if sh.count+taken >= s.limits.Records {
			sub.err = errorf(CodeStorageFull, "", "Agent '%s' has %d records, which is the limit; move files out of %s",
				sub.agent.Name, s.limits.Records, filepath.Join(sh.dir, folder))
			continue
		}
		taken++
		in := sub.in
		sub.rec = Record{
			ID: s.newID(), Timestamp: sh.nextTime(s.now()).Format(timeLayout), CanvasFile: in.CanvasFile,
			Action: in.Action, Element: in.Element, Data: in.Data, Summary: Summary(in),
		}
		sub.data, sub.temp = sub.rec.encode(), folder+"/"+tempPrefix+sub.rec.ID
	}
	var wg sync.WaitGroup
	for _, sub := range group[1:] {
		if sub.err == nil {
			wg.Go(func() { sh.writeOne(root, sub) })
		}
	}
	if group[0].err == nil {
		sh.writeOne(root, group[0])
	}
	wg.Wait()
}

func (sh *shelf) writeOne(root *os.Root, sub *submission) {
	if err := writeSynced(root, sub.temp, sub.data); err != nil {
		_ = root.Remove(sub.temp) // it might not exist
		sub.rec, sub.err = Record{}, sh.store.failed("storing an interaction", err)
	}
}

// writeSynced writes a new file and syncs it.
func writeSynced(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// publish gives the written files their own names, in order, and syncs the folder. If it
// fails, none of the group is stored.
func (sh *shelf) publish(root *os.Root, group []*submission) error {
	s := sh.store
	linked := 0
	for _, sub := range group {
		if sub.err != nil {
			continue
		}
		if err := link(root, sub.temp, folder+"/"+sub.rec.FileName()); err != nil {
			_ = root.Remove(sub.temp)
			sub.rec, sub.err = Record{}, s.failed("storing an interaction", err)
			continue
		}
		sub.linked = true
		linked++
	}
	if linked == 0 {
		return nil
	}
	err := syncFolder(root.Open(folder))
	if err == nil {
		return nil
	}
	for _, sub := range group {
		if sub.linked {
			_ = root.Remove(folder + "/" + sub.rec.FileName()) // it is not acknowledged
		}
	}
	return s.failed("storing an interaction", err)
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
