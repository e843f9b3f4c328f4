package aap

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"
)

// What a [Change] is about.
const (
	RecordStored       ChangeKind = iota + 1 // an interaction was stored, by this Store
	RecordAcknowledged                       // the agent acknowledged a record
	PageNew                                  // a page was added
	PageChanged                              // a page has other content
	PageGone                                 // a page was deleted
)

// ChangeKind says what a [Change] is about.
type ChangeKind int

// Change is a change of an agent's pages or records.
type Change struct {
	// Kind says what changed.
	Kind ChangeKind
	// Agent is whose page or record it is.
	Agent Agent
	// File is the page.
	File string
	// Record is the record of a RecordStored.
	Record Record
	// Acknowledgment is that of a RecordAcknowledged.
	Acknowledgment Acknowledgment
	// Source is the Interaction's of a RecordStored.
	Source string
}

const (
	pageInterval  = 500 * time.Millisecond // between looks at open and changing pages
	folderLooks   = 4                      // a folder is looked at every fourth time
	maxOpenWatch  = 1024                   // pages looked at each time
	maxWatchPages = 50_000                 // pages whose changes are known
)

// pageKey is a page of an agent.
type pageKey struct{ agent, file string }

// watched is a page as it was reported, and as the last look found it.
type watched struct {
	told, seen fileVersion
}

// watch looks for changes of pages. It has one goroutine while there is a watcher.
type watch struct {
	store *Store

	looking sync.Mutex // held while looking, never while reporting; before mu
	pages   map[pageKey]*watched

	mu     sync.Mutex
	fns    []*func(Change)
	open   map[pageKey]int
	stop   context.CancelFunc
	closed bool
	kicked chan struct{}
	done   sync.WaitGroup
}

func newWatch(s *Store) *watch {
	return &watch{store: s, open: map[pageKey]int{}, pages: map[pageKey]*watched{}, kicked: make(chan struct{}, 1)}
}

// Watch calls fn for each later change, until stop is called: records when they are stored,
// in order for each agent, and pages once they stood still for half a second. fn must not
// block, and must not call the Store.
func (s *Store) Watch(fn func(Change)) (stop func()) {
	w := s.watch
	w.looking.Lock()
	defer w.looking.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return func() {}
	}
	p := &fn
	w.fns = append(w.fns, p)
	if w.stop == nil {
		w.lookFolders(false)
		ctx, cancel := context.WithCancel(context.Background())
		w.stop = cancel
		w.done.Go(func() { w.run(ctx) })
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fns = slices.DeleteFunc(w.fns, func(o *func(Change)) bool { return o == p })
	}
}

// WatchPage has a page looked at twice a second instead of every two seconds, until stop
// is called: it is shown. Its content of now counts as known, unless it is shown already.
func (s *Store) WatchPage(agentID, file string) (stop func()) {
	w, key := s.watch, pageKey{agentID, file}
	w.looking.Lock()
	defer w.looking.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, ok := s.agents.find(agentID); ok && w.open[key] == 0 && len(w.pages) < maxWatchPages {
		now := s.version(a, file)
		w.pages[key] = &watched{told: now, seen: now}
	}
	w.open[key]++
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open[key]--; w.open[key] == 0 {
			delete(w.open, key)
		}
	})
}

// report calls the watchers.
func (w *watch) report(c Change) {
	w.mu.Lock()
	fns := slices.Clone(w.fns)
	w.mu.Unlock()
	for _, fn := range fns {
		(*fn)(c)
	}
}

// kick has the folders looked at soon.
func (w *watch) kick() {
	select {
	case w.kicked <- struct{}{}:
	default:
	}
}

func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	stop := w.stop
	w.fns = nil
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
	w.done.Wait()
}

func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(pageInterval)
	defer tick.Stop()
	for looks := 1; ; looks++ {
		select {
		case <-tick.C:
			for _, c := range w.look(looks%folderLooks == 0) {
				w.report(c)
			}
		case <-w.kicked:
			w.looking.Lock()
			w.lookFolders(true)
			w.looking.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// look returns what changed and stood still since the last look.
func (w *watch) look(folders bool) []Change {
	w.looking.Lock()
	defer w.looking.Unlock()
	changes := w.lookPages()
	if folders {
		w.lookFolders(true)
	}
	return changes
}

// lookFolders finds new, changed and deleted pages. Without report, what it finds counts
// as known. w.looking is held.
func (w *watch) lookFolders(report bool) {
	found := map[pageKey]bool{}
	for _, a := range w.store.agents.all() {
		root, err := w.store.openRoot(a, false)
		if err != nil {
			continue
		}
		for _, p := range listPages(root.FS()) {
			key := pageKey{a.ID, p.Path}
			found[key] = true
			v := fileVersion{p.Size, p.ModifiedAt, true}
			if known := w.pages[key]; known != nil {
				known.seen = v
			} else if len(w.pages) < maxWatchPages {
				known = &watched{seen: v}
				if !report {
					known.told = v
				}
				w.pages[key] = known
			}
		}
		_ = root.Close() // it was only read
	}
	for key, p := range w.pages {
		if !found[key] {
			p.seen = fileVersion{}
		}
	}
}

// lookPages looks at the pages that are shown, or that changed at the last look. A page
// that stood still since then is reported.
func (w *watch) lookPages() (changes []Change) {
	w.mu.Lock()
	for key := range w.open {
		if w.pages[key] == nil && len(w.pages) < maxWatchPages {
			w.pages[key] = &watched{} // an absent page that is shown
		}
	}
	open := func(key pageKey) bool { return w.open[key] > 0 }
	var due []pageKey
	for key, p := range w.pages {
		if (p.seen != p.told || open(key)) && len(due) < maxOpenWatch {
			due = append(due, key)
		}
	}
	w.mu.Unlock()
	slices.SortFunc(due, func(a, b pageKey) int { // the same order for every run
		if a.agent != b.agent {
			return compare(a.agent, b.agent)
		}
		return compare(a.file, b.file)
	})
	for _, key := range due {
		if c, ok := w.lookPage(key, w.pages[key]); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func (w *watch) lookPage(key pageKey, p *watched) (c Change, ok bool) {
	a, ok := w.store.agents.find(key.agent)
	if !ok {
		return c, false
	}
	now := w.store.version(a, key.file)
	if now != p.seen {
		p.seen = now // it may still change
		return c, false
	}
	if now == p.told {
		return c, false
	}
	kind := PageChanged
	switch {
	case !p.told.ok:
		kind = PageNew
	case !now.ok:
		kind = PageGone
	}
	p.told = now
	if !now.ok {
		delete(w.pages, key)
	}
	return Change{Kind: kind, Agent: a, File: key.file}, true
}

// version returns a page's version. Only a regular file exists.
func (s *Store) version(a Agent, file string) fileVersion {
	root, err := s.openRoot(a, false)
	if err != nil {
		return fileVersion{}
	}
	defer root.Close()
	info, err := root.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.logger.Debug("aap: a page cannot be read", "err", reason(err))
		}
		return fileVersion{}
	}
	return fileVersion{info.Size(), info.ModTime(), true}
}
