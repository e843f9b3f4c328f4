package chart

import (
	"embed"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// CanvasID is the id of the chart, as a canvas and as an extension.
const CanvasID = "chart"

// sampleData is the input of a chart that is opened without data.
//
//go:embed sample.json
var sampleData []byte

//go:embed declaration.json page
var files embed.FS

// New returns the provider of charts. It may be registered with any number of hosts.
func New() *sample.Provider {
	return sample.New(sample.Definition[State]{
		Extension:   canvas.Extension{ID: CanvasID},
		Declaration: sample.MustDeclaration(files),
		Page:        sample.MustPage(files),
		Open:        open,
		Asks:        true,
		Agent:       agent,
		Person:      person,
		Show:        func(s State) any { return s.drawing() },
		Title:       func(s State) string { return s.Title },
		Status:      State.status,
		Copy:        func(s State) (canvas.Content, error) { return s.csv() },
		CopyName:    "chart.csv",
	})
}

// status describes the query: "Revenue by Region and Product".
func (s State) status() string {
	words := fmt.Sprintf("%s by %s", s.Query.Measure, s.Query.GroupBy)
	if s.Query.SplitBy != "" {
		words += " and " + s.Query.SplitBy
	}
	return words
}
