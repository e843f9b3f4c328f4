package engine_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// A client changes its declarations while its canvas opens (run with -race).
func TestDeclaringAgainWhileItOpens(t *testing.T) {
	h, c := newClients(t)
	c.answers(always(`{"url":"https://example.com/"}`, nil))
	join(t, h, "a", editor)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			join(t, h, "a", editor)
		}
	})
	for i := range 200 {
		_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "editor", InstanceID: fmt.Sprint("i", i)})
		ok(t, err)
	}
	wg.Wait()
}
