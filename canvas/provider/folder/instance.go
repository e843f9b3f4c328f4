package folder

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// instance is an open folder: its files, and its pages as those who act.
type instance struct {
	*view.Pages
	folder *Folder
}

// Open opens the folder's canvas; it may be open any number of times. An input
// changes nothing: the page has it from its state. So an instance that lives
// stays: its pages said hello to it.
func (f *Folder) Open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	entry, err := f.manifest.entry()
	if err != nil {
		return canvas.Opened{}, err
	}
	i, lives := req.Current.(*instance)
	if !lives {
		i = &instance{Pages: view.New(view.Options{To: h, OnMessage: raise(h)}), folder: f}
		f.watch.add(i)
		// The end of the handle is the instance's, also where nobody closes it:
		// a stale canvas is opened anew, and so is one whose open failed.
		context.AfterFunc(h.Context(), func() { f.watch.remove(i) })
	}
	return canvas.Opened{
		Instance: i, URL: h.ContentURL(entry),
		Title: cmp.Or(f.manifest.Title, f.manifest.DisplayName), Links: true,
	}, nil
}

// The events of a folder's canvas, for the agent.
type (
	messageEvent struct {
		Message ahp.Value `json:"message"` // as the page sent it
	}
	lostEvent struct {
		Lost string `json:"lost"` // why a message could not be told
	}
)

// raise makes what a page sends an event. A message that has no room for the
// members around it is not lost without a word.
func raise(h *canvas.Handle) func(context.Context, canvas.View, ahp.Value) {
	return func(_ context.Context, _ canvas.View, payload ahp.Value) {
		event, err := ahp.Marshal(messageEvent{payload})
		if err == nil {
			err = h.Raise(event)
		}
		if err != nil {
			_ = h.Raise(ahp.MustMarshal(lostEvent{err.Error()})) // where the canvas is closed, nobody listens
		}
	}
}

// Close ends what the pages are asked.
func (i *instance) Close(ctx context.Context) error {
	i.folder.watch.remove(i)
	return i.Pages.Close(ctx)
}

// Read serves a file.
func (i *instance) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	at := req.Path
	if at.Dir {
		at = canvas.ContentPath{Segments: append(slices.Clone(at.Segments), "index.html")}
	}
	if hidden(at) || at.Name() == ManifestName {
		return canvas.Content{}, fs.ErrNotExist
	}
	return i.folder.read(at, req.ETag)
}
