package main

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/folder"
)

// offers is what a host can show: the bundled board, and the person's folders.
type offers struct {
	folders []*folder.Folder // in the order of --canvas
}

// offer registers the providers of this program. What was opened is in offers
// even where there is an error, to be closed.
func offer(s *canvas.Service, dirs []string) (offers, error) {
	var o offers
	if _, err := s.Register(canvas.Extension{ID: board.ExtensionID}, board.New(), board.Declaration()); err != nil {
		return o, err
	}
	for _, dir := range dirs {
		f, err := folder.Open(dir)
		if err != nil {
			return o, err
		}
		taken := f.ID() == board.ExtensionID || slices.ContainsFunc(o.folders, func(g *folder.Folder) bool { return g.ID() == f.ID() })
		o.folders = append(o.folders, f)
		if taken {
			return o, failf(codeNotStarted, "--canvas %s: there is a canvas %q already: give this one another id in its canvas.json", dir, f.ID())
		}
		if _, err := s.Register(canvas.Extension{ID: f.ID(), Name: f.Name()}, f, f.Declaration()); err != nil {
			return o, about("--canvas "+dir, err)
		}
	}
	return o, nil
}

// shown is what is opened where nobody says what.
func (o offers) shown() []string {
	if len(o.folders) == 0 {
		return []string{board.CanvasID}
	}
	var ids []string
	for _, f := range o.folders {
		ids = append(ids, f.Declaration().CanvasID)
	}
	return ids
}

// close lets the folders go, when the host serves no more.
func (o offers) close() {
	for _, f := range o.folders {
		_ = f.Close() // it was only read
	}
}
