package serve

import (
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// actionPages are the folders of --actions-page, in its order.
type actionPages []*bridgecanvas.Folder

// registerActionPages registers a canvas for each folder with an actions.json. On error it
// also returns the folders that it has opened; the caller closes them.
func registerActionPages(h *host.Host, dirs []string, o bridgecanvas.FolderOptions) (opened actionPages, err error) {
	for _, dir := range dirs {
		f, err := bridgecanvas.OpenFolder(dir, o)
		if err != nil {
			return opened, term.Failf(term.CodeNotStarted, "--actions-page: %v", err)
		}
		opened = append(opened, f)
		r, err := h.Add(f)
		if err != nil {
			return opened, term.About("--actions-page "+dir, err)
		}
		f.Watch(r)
	}
	return opened, nil
}

// defaults are the canvases to open if the user names none.
func (ps actionPages) defaults() (list []canvas.OpenArgs) {
	for _, f := range ps {
		list = append(list, openArgs(f.ID(), f.ID()))
	}
	return list
}

func (ps actionPages) close() {
	for _, f := range ps {
		_ = f.Close() // it was only read
	}
}
