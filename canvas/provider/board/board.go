package board

import (
	"embed"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// CanvasID is the id of the board, as a canvas and as an extension.
const CanvasID = "board"

//go:embed declaration.json page
var files embed.FS

// New returns the provider of boards. It may be registered with any number of hosts.
func New() *sample.Provider {
	return sample.New(sample.Definition[board]{
		Extension:   canvas.Extension{ID: CanvasID},
		Declaration: sample.MustDeclaration(files),
		Page:        sample.MustPage(files),
		Open:        open,
		Agent:       actions,
		Person:      byPeople(),
		Show:        func(b board) any { return b.State },
		Title:       func(b board) string { return b.Title },
		Status:      board.status,
		Links:       true,
	})
}

// input is what a board is opened with.
type input struct {
	Title *string  `json:"title,omitzero"`
	Lists []string `json:"lists,omitzero"`
}

// open brings a board to what it is opened with: a title, and lists that are
// missing.
func open(before board, given ahp.Value) (board, error) {
	var in input
	if given != nil {
		if err := ahp.Unmarshal(given, &in); err != nil {
			return before, err
		}
	}
	after := before.copy()
	if before.Revision == 0 { // it is new
		after.Title, after.Lists = "Board", []List{}
		if in.Lists == nil {
			in.Lists = []string{"To do", "Doing", "Done"}
		}
	}
	if in.Title != nil {
		var err error
		if after.Title, err = texts.Name("the board's title", *in.Title, MaxTitle); err != nil {
			return before, err
		}
	}
	for _, name := range in.Lists {
		have := after.called(name)
		if len(have) > 0 && (before.Revision > 0 || after.Lists[have[0]].Title == sample.OneLine(name)) {
			continue // a new board has "C" and "C++"; one that has "To do" needs no "todo"
		}
		if _, err := after.addList(addList{Title: name}); err != nil {
			return before, err
		}
	}
	after.Revision++
	return after, after.check()
}

func (b board) status() string {
	all, done := b.counts()
	if all == 0 {
		return "No cards yet"
	}
	return fmt.Sprintf("%d of %d done", done, all)
}
