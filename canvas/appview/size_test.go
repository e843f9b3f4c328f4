package appview_test

import (
	"context"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
)

// TestDocumentSizes: the documents of the canvases that a host has are at most 48 KiB, which
// is one part of one call.
func TestDocumentSizes(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []canvas.Declarer{board.New(), form.New(), chart.New()} {
		if _, err := h.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	for id, input := range map[string]string{
		"board": `{}`, "form": `{"title":"Ship it?","fields":[{"name":"why","label":"Why","type":"text"}]}`,
		"chart": `{"title":"Visits","columns":[{"name":"Page","type":"text"},{"name":"Visits","type":"number"}],"rows":[["/home",1200]]}`,
	} {
		o, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, Input: ahp.Value(input)})
		if err != nil {
			t.Fatal(err)
		}
		v, err := h.Attach(attach.Args{Channel: o.Channel, ClientID: "chat:size", Bytes: 1 << 20, Count: 64})
		if err != nil {
			t.Fatal(err)
		}
		text, err := onefile.Document(t.Context(), func(ctx context.Context, at string) (canvas.Content, error) {
			p, err := canvas.ParseContentPath(at)
			if err != nil {
				return canvas.Content{}, ahp.ErrNotFound
			}
			return v.Read(ctx, p, "")
		}, "/", "")
		v.Close()
		t.Logf("%s: %.1f KiB", id, float64(len(text))/1024)
		if err != nil || len(text) > 48<<10 || len(text) < 1<<10 {
			t.Errorf("%s has %d bytes, %v", id, len(text), err)
		}
	}
}
