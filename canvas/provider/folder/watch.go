package folder

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	watchEvery = 500 * time.Millisecond // how often what was read is looked at
	watchMost  = 4                      // looks after which a reload comes though files still change
	watchFiles = 1024                   // files that are looked at; later ones are not
)

// watch looks whether the files that pages have read are still what they were,
// and tells the pages where they are not. It is one goroutine a folder, there
// while a canvas is open.
type watch struct {
	stat func(name string) (fs.FileInfo, error)

	mu     sync.Mutex
	files  map[string]*watched
	pages  map[*instance]struct{}
	stop   context.CancelFunc
	closed bool
	done   sync.WaitGroup
}

// watched is a file as it was when the pages last heard of it, and when it was
// last looked at. Nil is a file that is gone.
type watched struct{ told, seen fs.FileInfo }

func newWatch(stat func(string) (fs.FileInfo, error)) *watch {
	return &watch{stat: stat, files: map[string]*watched{}, pages: map[*instance]struct{}{}}
}

// read notes that a page is about to read a file that is like this now. What was
// noted first stays: another page may have read that.
func (w *watch) read(name string, info fs.FileInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pages) == 0 || w.files[name] != nil || len(w.files) >= watchFiles {
		return
	}
	w.files[name] = &watched{info, info}
}

// add begins to tell an instance's pages.
func (w *watch) add(i *instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.pages[i] = struct{}{}
	if len(w.pages) == 1 {
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		w.done.Go(func() { w.run(ctx) })
	}
}

// remove ends that; the last one ends the watch.
func (w *watch) remove(i *instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.pages[i]; !there {
		return
	}
	delete(w.pages, i)
	if len(w.pages) == 0 {
		w.stop()
		clear(w.files)
	}
}

// close ends the watch and waits for it.
func (w *watch) close() {
	w.mu.Lock()
	if len(w.pages) > 0 {
		w.stop()
	}
	w.closed = true
	clear(w.pages)
	clear(w.files)
	w.mu.Unlock()
	w.done.Wait()
}

// run tells of a change once nothing more has changed for a look, and no file is
// gone that was there: an editor that writes a new file and renames it, or a
// build that writes many, is one change.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	looks := 0
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		changed, restless := w.look()
		if !changed {
			looks = 0
			continue
		}
		if looks++; restless && looks < watchMost {
			continue
		}
		looks = 0
		for _, i := range w.settle() {
			_ = i.Reload() // a canvas that was closed meanwhile needs none
		}
	}
}

// look looks at all files: whether the pages have read something else than what
// is there, and whether it may change further.
func (w *watch) look() (changed, restless bool) {
	for name, f := range w.snapshot() {
		info, err := w.stat(name)
		if err != nil || !info.Mode().IsRegular() {
			info = nil
		}
		if !alike(info, f.told) {
			changed = true
			restless = restless || info == nil || !alike(info, f.seen)
		}
		w.mu.Lock()
		if now := w.files[name]; now != nil {
			now.seen = info
		}
		w.mu.Unlock()
	}
	return changed, restless
}

func (w *watch) snapshot() map[string]watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	files := make(map[string]watched, len(w.files))
	for name, f := range w.files {
		files[name] = *f
	}
	return files
}

// settle takes what was seen last for what the pages know, and returns whom to
// tell.
func (w *watch) settle() []*instance {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		f.told = f.seen
	}
	var all []*instance
	for i := range w.pages {
		all = append(all, i)
	}
	return all
}

// alike reports whether a file is the same file with the same content, as far as
// a stat can tell. One that was replaced by a rename is another.
func alike(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
