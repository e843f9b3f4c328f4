package form

import (
	"embed"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// ExtensionID is the id under which the form is registered.
const ExtensionID = "form"

// CanvasID is the id of the canvas that the form declares.
const CanvasID = "form"

//go:embed declaration.json page
var files embed.FS

// Declaration returns what the form declares.
func Declaration() canvas.Declaration { return sample.MustDeclaration(files) }

// New returns the provider of forms. It may be registered with any number of hosts.
func New() *sample.Provider {
	return sample.New(sample.Definition[State]{
		Extension:   canvas.Extension{ID: ExtensionID},
		Declaration: Declaration(),
		Page:        sample.MustPage(files),
		Open:        open,
		Agent:       agent,
		Person:      person,
		Title:       func(s State) string { return s.Title },
		Status:      State.status,
	})
}

func (s State) status() string {
	switch s.Decision {
	case Approved:
		return "Approved"
	case Declined:
		return "Declined"
	}
	return "Waits for an answer"
}
