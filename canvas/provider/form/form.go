package form

import (
	"embed"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// CanvasID is the id of the form, as a canvas and as an extension.
const CanvasID = "form"

//go:embed declaration.json page
var files embed.FS

// New returns the provider of forms. It may be registered with any number of hosts.
func New() *sample.Provider {
	return sample.New(sample.Definition[State]{
		Extension:   canvas.Extension{ID: CanvasID},
		Declaration: sample.MustDeclaration(files),
		Page:        sample.MustPage(files),
		Open:        open,
		Asks:        true,
		Attention:   State.attention,
		Copy:        sample.JSONCopy[State],
		CopyName:    "form.json",
		Agent:       agent,
		Person:      person,
		Decisions:   []string{"edit", "decide"},
		Title:       func(s State) string { return s.Title },
		Status:      State.status,
	})
}

// attention returns what the form waits for.
func (s State) attention() string {
	if s.Decision != Pending {
		return ""
	}
	return "Waits for your answer"
}

// status returns the line under the title.
func (s State) status() string {
	switch s.Decision {
	case Approved:
		return "Approved"
	case Declined:
		return "Declined"
	}
	return "Waiting for an answer"
}
