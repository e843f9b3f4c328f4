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

// instance is an open canvas of the folder.
type instance struct {
	*view.Pages
	folder *Folder
}

// Open opens the folder's canvas, any number of times. An open instance stays, because
// its pages have said hello to it; they read a new input from the canvas's state.
func (f *Folder) Open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	entry, err := f.manifest.entry()
	if err != nil {
		return canvas.Opened{}, err
	}
	i, isOpen := req.Current.(*instance)
	if !isOpen {
		i = &instance{Pages: view.New(view.Options{To: h, OnMessage: raise(h)}), folder: f}
		f.watch.add(i)
		// The handle also ends if the canvas becomes stale or its open fails, without a
		// call of Close.
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
		Message ahp.Value `json:"message"`       // the page's value
		Role    string    `json:"role,omitzero"` // of the connection, if it is no person's
	}
	lostEvent struct {
		Lost string `json:"lost"` // why the message could not be raised
	}
)

// raise makes an event of each message of a page. If the event is too large, it raises
// the reason instead.
func raise(h *canvas.Handle) func(context.Context, canvas.View, ahp.Value) {
	return func(_ context.Context, from canvas.View, payload ahp.Value) {
		m := messageEvent{Message: payload}
		if !from.Person() {
			m.Role = from.Role
		}
		event, err := ahp.Marshal(m)
		if err == nil {
			err = h.Raise(event)
		}
		if err != nil {
			_ = h.Raise(ahp.MustMarshal(lostEvent{err.Error()})) // fails only if the canvas is closed
		}
	}
}

// Close ends the watch for this instance and its pages' unanswered actions.
func (i *instance) Close(ctx context.Context) error {
	i.folder.watch.remove(i)
	return i.Pages.Close(ctx)
}

// Read returns a file.
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
