package canvas_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// What would be refused in a frame is refused wherever else it comes from: an
// agent's input and a provider's words go on to clients.
func TestShapeIsBounded(t *testing.T) {
	deep := `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`
	wide := `{"x":[` + strings.Repeat("1,", 16383) + `1]}`
	for name, v := range map[string]string{"deep": deep, "wide": wide} {
		t.Run(name, func(t *testing.T) {
			h, f, _ := newFake(t, canvas.Options{})
			_, err := open(h, "one", "")
			ok(t, err)
			_, err = invoke(h, "one", "go", v)
			e := wantCode(t, err, canvas.CodeInputInvalid)
			equal(t, "/input limit", e.Path+" "+e.Rule)
			f.invoke = func(_ context.Context, hd *canvas.Handle, _ string, _ ahp.Value) (ahp.Value, error) {
				if hd.Post(ahp.Value(v)) == nil || hd.Raise(ahp.Value(v)) == nil {
					t.Error("a provider said more than a client can read")
				}
				return ahp.Value(v), nil
			}
			_, err = invoke(h, "one", "go", "")
			wantCode(t, err, canvas.CodeHandlerError)
			f.invoke = nil
			_, err = invoke(h, "one", "go", `{"x":[[1,2,3]]}`)
			ok(t, err)
		})
	}
}

// TestEveryPlaceCanBeTaken: as many canvases open at once as the limit allows, and
// none of them is counted twice on its way.
func TestEveryPlaceCanBeTaken(t *testing.T) {
	const places = 200
	h, _, _ := newFake(t, canvas.Options{Limits: canvas.Limits{SessionInstances: places, Instances: places}})
	var wg sync.WaitGroup
	for n := range places {
		wg.Go(func() {
			if _, err := open(h, fmt.Sprint("i", n), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, err := open(h, "more", "")
	wantCode(t, err, canvas.CodeLimitExceeded)
}

// TestManyInstances: 256 in a session and 4,096 in a host (canvas.md section 8).
func TestManyInstances(t *testing.T) {
	h, _, _ := newFake(t, canvas.Options{})
	const sessions, each = 16, 256
	openIn := func(n int) error {
		uri := fmt.Sprint("ahp-session:/", n)
		ok(t, h.Sessions.Ensure(uri, ""))
		_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: uri, CanvasID: "fake"})
		return err
	}
	for n := range sessions {
		for range each {
			ok(t, openIn(n))
		}
		if n == 0 {
			e := wantCode(t, openIn(n), canvas.CodeLimitExceeded)
			equal(t, "256 canvases are open in this session, which is the limit: close one first", e.Message)
		}
	}
	e := wantCode(t, openIn(sessions), canvas.CodeLimitExceeded)
	equal(t, "4096 canvases are open in this host, which is the limit: close one first", e.Message)
}
