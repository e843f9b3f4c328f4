package form

import (
	"embed"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// ExtensionID is under which extension a host registers the form.
const ExtensionID = "form"

// CanvasID is the canvas that it declares.
const CanvasID = "form"

//go:embed declaration.json page
var files embed.FS

// Declaration is what the form declares.
func Declaration() canvas.Declaration { return sample.Declaration(files) }

// New returns the provider of forms.
func New() canvas.Provider {
	return sample.New(sample.Definition[State]{
		Page:   sample.Page(files),
		Open:   open,
		Agent:  agent,
		Person: person,
		Title:  func(s State) string { return s.Title },
		Status: State.status,
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
