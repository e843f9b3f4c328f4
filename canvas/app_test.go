package canvas_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
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

// TestHashETag: content has the same validator in one piece and in many, as every release
// has given it.
func TestHashETag(t *testing.T) {
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 200 << 10} {
		data := bytes.Repeat([]byte("b"), size)
		sum := sha256.Sum256(data)
		if got, want := canvas.HashETag(data), base64.RawURLEncoding.EncodeToString(sum[:12]); got != want {
			t.Errorf("%d bytes: %s, want %s", size, got, want)
		}
	}
}
