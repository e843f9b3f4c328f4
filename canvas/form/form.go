package form

import (
	"embed"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/sample"
)

// ExtensionID is under which extension a host registers the form.
const ExtensionID = "form"

// CanvasID is the canvas that it declares.
const CanvasID = "form"

//go:embed declaration.json
var declaration []byte

//go:embed page
var page embed.FS

// Declaration is what the form declares.
func Declaration() canvas.Declaration {
	var d canvas.Declaration
	if err := ahp.Unmarshal(declaration, &d); err != nil {
		panic(err) // it is embedded
	}
	return d
}

// New returns the provider of forms.
func New() canvas.Provider {
	return sample.New(sample.Definition[State]{
		Page:   sample.Page(page),
		Open:   open,
		Agent:  agent,
		Person: person,
		Show:   func(s State) any { return s },
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
