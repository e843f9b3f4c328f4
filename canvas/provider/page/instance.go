package page

import (
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// instance is one open canvas.
type instance struct {
	*view.Pages
	provider *Provider
	h        *canvas.Handle
	folder   string
	blobs    blobs

	mu      sync.Mutex // held during a change, so changes are in one order everywhere
	rec     record
	shown   bool                    // Open has returned: from then on a save is durable at once
	staged  *staging                // files of write_files with more: true; nil if there are none
	viewers map[canvas.View]*viewer // the pages that said hello
	moved   chan struct{}           // closed and replaced when one of them answered a change or was loaded
	blocked map[string]bool         // addresses that were reported to the agent, in this revision
	offer   *exported               // a download that no person has taken or dismissed yet
	timer   *time.Timer             // reloads pages that do not answer; nil if none is asked
}

// apply applies the input of an open. Without html and files it keeps the files.
func (i *instance) apply(ctx context.Context, in opening, isOpen bool) error {
	files := in.Files
	if in.HTML != nil {
		files = map[string]ahp.Value{index: ahp.MustMarshal(*in.HTML)}
	}
	decoded, err := decodeFiles(files)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.rec
	if in.Title != nil {
		i.rec.Title = *in.Title
	}
	switch {
	case files != nil:
		next, contents, err := change{files: decoded}.apply(i, tree{})
		if err == nil {
			_, err = i.commit(ctx, byAgent, what(decoded, nil, before.head().N == 0), next, contents)
		}
		if err != nil {
			i.rec.Title = before.Title
			return err
		}
	case len(before.Revisions) == 0 || i.rec.Title != before.Title:
		if err := i.save(ctx, i.rec); err != nil {
			i.rec.Title = before.Title
			return err
		}
	}
	if isOpen && before.head().N != i.rec.head().N {
		return i.show()
	}
	return nil
}

// opened is the answer to an open. The host keeps the title as the input: the files are
// in revisions.
func (i *instance) opened() canvas.Opened {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shown = true
	kept := ahp.Value(`{}`)
	if i.rec.Title != "" {
		kept = ahp.MustMarshal(opening{Title: &i.rec.Title})
	}
	return canvas.Opened{Instance: i, URL: i.h.ContentURL("/"), Title: i.title(), Status: i.status(), Links: true, Input: kept}
}

// show shows the current revision in every open View. mu is held.
func (i *instance) show() error {
	if err := i.announce(); err != nil {
		return err
	}
	return i.h.Update(i.h.Context(), canvas.Update{Title: ahp.Set(i.title()), Status: ahp.Set(i.status())})
}

// revise commits files and shows them. mu is held.
func (i *instance) revise(ctx context.Context, by, what string, files tree, contents map[string][]byte) (revision, error) {
	before := i.rec.head().N
	rev, err := i.commit(ctx, by, what, files, contents)
	if err != nil || rev.N == before {
		return rev, err
	}
	return rev, i.show()
}

// Close ends the actions that pages run.
func (i *instance) Close(ctx context.Context) error {
	i.stopTimer()
	return i.Pages.Close(ctx)
}

// end is called when the handle has ended: the canvas was closed or is stale.
func (i *instance) end() {
	i.stopTimer()
	i.provider.release(i)
}

func (i *instance) stopTimer() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}
