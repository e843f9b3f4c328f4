package main

import (
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
)

// bundled are the canvases that come with the program, in the order of ls.
var bundled = []struct {
	id          string
	provider    func() canvas.Provider
	declaration func() canvas.Declaration
}{
	{board.ExtensionID, func() canvas.Provider { return board.New() }, board.Declaration},
	{form.ExtensionID, func() canvas.Provider { return form.New() }, form.Declaration},
	{chart.ExtensionID, func() canvas.Provider { return chart.New() }, chart.Declaration},
}

// offers is what a host can show: the bundled canvases, and the person's folders.
type offers struct {
	folders []*folder.Folder // in the order of --canvas
}

// offer registers the providers of this program. What was opened is in offers
// even where there is an error, to be closed.
func offer(s *host.Canvases, dirs []string) (offers, error) {
	var o offers
	ids := map[string]bool{}
	for _, b := range bundled {
		ids[b.id] = true
		if _, err := s.Register(canvas.Extension{ID: b.id}, b.provider(), b.declaration()); err != nil {
			return o, err
		}
	}
	for _, dir := range dirs {
		f, err := folder.Open(dir)
		if err != nil {
			return o, err
		}
		taken := ids[f.ID()]
		ids[f.ID()] = true
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
