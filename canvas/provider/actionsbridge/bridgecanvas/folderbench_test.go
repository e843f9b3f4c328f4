package bridgecanvas_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// BenchmarkFolderCall compares a call of a tool, to its result, with an action of a usual
// folder canvas whose page does the same: both are open in one tab of Chromium, and are
// called in turn. The metric ratio is that of their medians.
func BenchmarkFolderCall(b *testing.B) {
	s := newStage(b, write(b, map[string]string{
		"index.html":   `<!doctype html><title>Tool</title><script>window.app = { nothing: () => null };</script>`,
		"actions.json": actions(`"tools":[{"name":"k.nothing","x_actions":{"handler":"app.nothing"}}]`),
	}), false)
	plain := write(b, map[string]string{
		"index.html":  `<!doctype html><title>Plain</title><script type="module">import { onAction } from "/.ahp/canvas.js"; onAction("nothing", () => null);</script>`,
		"canvas.json": `{"id":"plain","displayName":"Plain","description":"Plain.","actions":[{"name":"nothing"}]}`,
	})
	f, err := folder.Open(plain)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	if _, err := s.host.Add(f); err != nil {
		b.Fatal(err)
	}
	if _, err := s.host.Canvases().Open(b.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "plain", InstanceID: "plain"}); err != nil {
		b.Fatal(err)
	}
	webtest.Start(b).Open(b, s.link).Frames(b, 2, webtest.ContentFrame)
	call := func(instance, action string) time.Duration {
		begun := time.Now()
		if _, err := s.host.Canvases().Invoke(b.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: instance, ActionName: action, Input: ahp.Value(`{}`)}); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	var tool, action []time.Duration
	call("f", "k.nothing")
	call("plain", "nothing")
	for b.Loop() {
		tool, action = append(tool, call("f", "k.nothing")), append(action, call("plain", "nothing"))
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2])
	}
	b.ReportMetric(median(tool)/median(action), "ratio")
	b.ReportMetric(median(tool)/1e6, "tool-ms")
	b.ReportMetric(median(action)/1e6, "action-ms")
}

// FuzzFolder: no actions.json breaks lint, and what it finds is in the file.
func FuzzFolder(f *testing.F) {
	for _, text := range []string{actions(`"tools":[]`), small()["actions.json"], `{"imports":[{"uri":""}],"tools":[{"x_actions":{"timeout_ms":1e9}}]}`, "[", `{"tools":[{"source":{"files":["a/../../x","~0","%"]}}]}`} {
		f.Add(text)
	}
	dir := filepath.Join(f.TempDir(), "fuzz")
	if err := os.Mkdir(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<p>"), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "actions.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		found, err := bridgecanvas.LintFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range found {
			if one.File == "actions.json" && (one.Line < 1 || one.Line > 1+strings.Count(text, "\n")) {
				t.Fatalf("%+v", one)
			}
		}
		o, err := bridgecanvas.OpenFolder(dir, bridgecanvas.FolderOptions{})
		if (err == nil) != (len(found) == 0) {
			t.Fatalf("lint found %s, the start says %v", fmt.Sprint(found), err)
		}
		if err == nil {
			_ = o.Close()
		}
	})
}
