package chart

import (
	"embed"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// ExtensionID is under which extension a host registers the chart.
const ExtensionID = "chart"

// CanvasID is the canvas that it declares.
const CanvasID = "chart"

// sampleData is invented, and says so.
//
//go:embed sample.json
var sampleData []byte

//go:embed declaration.json page
var files embed.FS

// Declaration is what the chart declares.
func Declaration() canvas.Declaration { return sample.Declaration(files) }

// New returns the provider of charts.
func New() canvas.Provider {
	return sample.New(sample.Definition[State]{
		Page:   sample.Page(files),
		Open:   open,
		Agent:  agent,
		Person: person,
		Show:   func(s State) any { return s.drawing() },
		Title:  func(s State) string { return s.Title },
		Status: State.status,
	})
}

// status says what is drawn: "Revenue by Region and Product".
func (s State) status() string {
	words := fmt.Sprintf("%s by %s", s.Query.Measure, s.Query.GroupBy)
	if s.Query.SplitBy != "" {
		words += " and " + s.Query.SplitBy
	}
	return words
}
