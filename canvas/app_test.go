package canvas_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

func TestAppIsAProvider(t *testing.T) {
	app := canvas.Func(func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{URL: h.ContentURL("/"), Instance: &canvas.App{
			Files:   fstest.MapFS{"index.html": {Data: []byte("<p>")}},
			Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){"go": func(context.Context, ahp.Value) (ahp.Value, error) { return nil, nil }},
		}}, nil
	})
	canvastest.TestProvider(t, canvastest.Config{
		Provider: app, Declaration: canvas.Declaration{CanvasID: "app", DisplayName: "App", Actions: []canvas.Action{{Name: "go"}}},
		Input: ahp.Value(`{"a":1}`), Other: ahp.Value(`{"a":2}`), Action: "go", Path: "/",
	})
}
