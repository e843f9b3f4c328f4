package folder

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	watchInterval   = 500 * time.Millisecond
	maxPostponed    = 4    // checks after which a reload comes although files still change
	maxWatchedFiles = 1024 // files that are checked; later ones are not
)

// watch checks whether files changed that pages have read, and reloads the pages then.
// It has one goroutine while a canvas is open.
type watch struct {
	stat func(name string) (fs.FileInfo, error)

	mu     sync.Mutex
	files  map[string]*watched
	pages  map[*instance]struct{}
	stop   context.CancelFunc
	closed bool
	done   sync.WaitGroup
}

// watched is a file as the pages have read it, and as the last check found it. Nil is a
// missing file.
type watched struct{ shown, seen fs.FileInfo }

func newWatch(stat func(string) (fs.FileInfo, error)) *watch {
	return &watch{stat: stat, files: map[string]*watched{}, pages: map[*instance]struct{}{}}
}

// read records the state of a file that a page is about to read. The first record
// stays, because another page might have read that content.
func (w *watch) read(name string, info fs.FileInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pages) == 0 || w.files[name] != nil || len(w.files) >= maxWatchedFiles {
		return
	}
	w.files[name] = &watched{info, info}
}

// add starts reloading an instance's pages.
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

// remove stops that. The last one ends the goroutine.
func (w *watch) remove(i *instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.pages[i]; !ok {
		return
	}
	delete(w.pages, i)
	if len(w.pages) == 0 {
		w.stop()
		clear(w.files)
	}
}

// close ends the goroutine and waits for it.
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

// run reloads the pages after a change. It waits until a check finds no further change
// and no missing file, so that an editor that renames a new file over the old one, or a
// build that writes many files, causes one reload.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	postponed := 0
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		changed, changing := w.check()
		if !changed {
			postponed = 0
			continue
		}
		if postponed++; changing && postponed < maxPostponed {
			continue
		}
		postponed = 0
		for _, i := range w.acknowledge() {
			_ = i.Reload() // fails only if the canvas was closed meanwhile
		}
	}
}

// check checks all files. changed reports whether a file differs from what the pages
// have read, changing whether it also differs from the last check, or is missing.
func (w *watch) check() (changed, changing bool) {
	for name, f := range w.snapshot() {
		info, err := w.stat(name)
		if err != nil || !info.Mode().IsRegular() {
			info = nil
		}
		if !same(info, f.shown) {
			changed = true
			changing = changing || info == nil || !same(info, f.seen)
		}
		w.mu.Lock()
		if now := w.files[name]; now != nil {
			now.seen = info
		}
		w.mu.Unlock()
	}
	return changed, changing
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

// acknowledge records that the pages are about to read the files as they were seen
// last. It returns the instances to reload.
func (w *watch) acknowledge() []*instance {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		f.shown = f.seen
	}
	var all []*instance
	for i := range w.pages {
		all = append(all, i)
	}
	return all
}

// same reports whether two stats are of the same file with the same content, as far as
// a stat shows that. A renamed file in its place differs.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
