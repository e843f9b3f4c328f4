package dialect_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// BenchmarkSend translates an entry for one connection of 1.0: a change of a canvas's
// status. Clients of 0.5 and 0.6 have none of this work.
func BenchmarkSend(b *testing.B) {
	url, status := "x", "1 of 5 done"
	state := canvas.CanvasState{InstanceID: "c", CanvasID: "k", ExtensionID: "e", Availability: session.Ready, URL: &url}
	tr := connect(b, "1.0.0")
	subscribe(b, tr, canvasURI, map[string]any{canvasURI: state})
	var texts [2]ahp.Value
	for i := range texts {
		texts[i] = ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "method": "action", "params": map[string]any{
			"channel": canvasURI, "serverSeq": 2, "action": map[string]any{"type": "canvas/updated", "status": status},
		}})
		status += "!"
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if len(tr.Send(texts[n%2])) != 1 {
			b.Fatal("the entry has no form")
		}
		n++
	}
}
