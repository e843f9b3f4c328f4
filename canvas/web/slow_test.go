package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// hanging is an instance whose page refers to files that are never read to the end.
type hanging struct {
	reads chan string // the path of each read that hangs
	end   chan struct{}
}

func (h *hanging) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if req.Path.String() == "/" {
		var page strings.Builder
		page.WriteString(`<!doctype html><title>Hangs</title>`)
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			page.WriteString(`<script async src="` + name + `.js"></script>`)
		}
		return canvas.Content{Data: []byte(page.String()), ContentType: "text/html"}, nil
	}
	h.reads <- req.Path.String()
	select {
	case <-ctx.Done():
	case <-h.end:
	}
	return canvas.Content{}, context.Canceled
}

func (h *hanging) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }

func (h *hanging) Close(context.Context) error { return nil }

// TestProviderHangs: a provider that does not answer reads delays its own canvas only.
// A read ends after 30 s, so the test would see the other canvases late.
func TestProviderHangs(t *testing.T) {
	e := start(t, nil)
	h := &hanging{make(chan string, 64), make(chan struct{})}
	t.Cleanup(func() { close(h.end) })
	provide := canvas.Func(func(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Instance: h, Title: "Hangs", URL: canvas.ContentURL(req.InstanceID, "")}, nil
	})
	if _, err := e.host.Canvases().Register(canvas.Extension{ID: "hangs"}, provide, canvas.Declaration{CanvasID: "hangs", DisplayName: "Hangs", Description: "Hangs."}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"h1", "h2"} {
		if _, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "hangs", InstanceID: id}); err != nil {
			t.Fatal(err)
		}
	}
	p := webtest.Start(t).Open(t, e.link)
	for range 4 {
		<-h.reads // both places of both canvases
	}
	began := time.Now()
	e.open(t, helloSite("one"))
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("beside providers that hang, a canvas was shown after %s", took)
	}
	p.Wait(t, `document.querySelectorAll(".card").length === 3`)
}
