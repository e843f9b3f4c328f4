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
		Agent:       agentActions(),
		Person:      personActions(),
		Decisions:   []string{"remove_list"},
		Show:        func(b board) any { return b.State },
		Title:       func(b board) string { return b.Title },
		Status:      board.status,
		Links:       true,
		Copy:        func(b board) (canvas.Content, error) { return sample.JSONCopy(b.State) },
		CopyName:    "board.json",
	})
}

// input is the input with which a board is opened.
type input struct {
	Title *string  `json:"title,omitzero"`
	Lists []string `json:"lists,omitzero"`
}

// open applies an input: it sets the title and adds the lists that are missing.
func open(before board, raw ahp.Value) (board, error) {
	var in input
	if raw != nil {
		if err := ahp.Unmarshal(raw, &in); err != nil {
			return before, err
		}
	}
	after := before.copy()
	isNew := before.Revision == 0
	if isNew {
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
		same := after.listsNamed(name)
		if len(same) > 0 && (!isNew || after.Lists[same[0]].Title == sample.OneLine(name)) {
			continue // a new board can have "C" and "C++"; an old one with "To do" needs no "todo"
		}
		if _, err := after.addList(addList{Title: name}); err != nil {
			return before, err
		}
	}
	after.Revision++
	return after, after.check()
}

// status returns the line under the title.
func (b board) status() string {
	all, done := b.counts()
	if all == 0 {
		return "No cards yet"
	}
	return fmt.Sprintf("%d of %d done", done, all)
}
