package bridgecanvas_test

import (
	"fmt"
	"os"
	"path/filepath"
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

// checkedPage is a page with four checks and three states.
func checkedPage() map[string]string {
	var html, checks, states strings.Builder
	for n := range 4 {
		fmt.Fprintf(&html, `<p id="p%d">Text %d</p><button id="b%d">Press</button>`, n, n, n)
		fmt.Fprintf(&checks, `,{"id":"c%d","severity":"major","state":"s%d","assertions":[{"target":{"selector":"#p%d"},"visible":true},{"target":{"selector":"#b%d"},"visible":true,"enabled":true}]}`, n, n%3, n, n)
	}
	for n := range 3 {
		fmt.Fprintf(&states, `,{"name":"s%d","diagnostics":[{"name":"text","target":{"selector":"#p%d","text_contains":"Text"}},{"name":"button","target":{"selector":"#b%d"}}]}`, n, n, n)
	}
	return map[string]string{
		"index.html":   `<!doctype html><title>Checked</title>` + html.String() + `<script>window.app = { nothing: () => null };</script>`,
		"actions.json": strings.Replace(actions(`"tools":[{"name":"k.nothing","x_actions":{"handler":"app.nothing"}}],"checks":[`+checks.String()[1:]+`],"states":[`+states.String()[1:]+`]`), "small", "checked", 1),
	}
}

// BenchmarkFolderCall compares a call of a tool, to its result, with an action of a usual
// folder canvas whose page does the same: all are open in one tab of Chromium, and are
// called in turn. The metric ratio is that of their medians, checked-ratio that of a page
// with four checks and three states.
func BenchmarkFolderCall(b *testing.B) {
	s := newStage(b, write(b, map[string]string{
		"index.html":   `<!doctype html><title>Tool</title><script>window.app = { nothing: () => null };</script>`,
		"actions.json": actions(`"tools":[{"name":"k.nothing","x_actions":{"handler":"app.nothing"}}]`),
	}), false)
	plain, err := folder.Open(write(b, map[string]string{
		"index.html":  `<!doctype html><title>Plain</title><script type="module">import { onAction } from "/.ahp/canvas.js"; onAction("nothing", () => null);</script>`,
		"canvas.json": `{"id":"plain","displayName":"Plain","description":"Plain.","actions":[{"name":"nothing"}]}`,
	}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = plain.Close() })
	checked, err := bridgecanvas.OpenFolder(write(b, checkedPage()), bridgecanvas.FolderOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = checked.Close() })
	open := func(p interface {
		canvas.Declarer
		ID() string
	}, instance string,
	) {
		if _, err := s.host.Add(p); err != nil {
			b.Fatal(err)
		}
		if _, err := s.host.Canvases().Open(b.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: p.ID(), InstanceID: instance}); err != nil {
			b.Fatal(err)
		}
	}
	open(plain, "plain")
	open(checked, "checked")
	webtest.Start(b).Open(b, s.link).Frames(b, 3, webtest.ContentFrame)
	calls := []struct {
		instance, action string
		took             []time.Duration
	}{{"f", "k.nothing", nil}, {"checked", "k.nothing", nil}, {"plain", "nothing", nil}}
	call := func(instance, action string) time.Duration {
		begun := time.Now()
		if _, err := s.host.Canvases().Invoke(b.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: instance, ActionName: action, Input: ahp.Value(`{}`)}); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	for _, c := range calls {
		call(c.instance, c.action)
	}
	for b.Loop() {
		for n, c := range calls {
			calls[n].took = append(calls[n].took, call(c.instance, c.action))
		}
	}
	tool, withChecks, action := median(calls[0].took), median(calls[1].took), median(calls[2].took)
	b.ReportMetric(ratio(tool, action), "ratio")
	b.ReportMetric(ratio(withChecks, action), "checked-ratio")
	b.ReportMetric(tool.Seconds()*1e3, "tool-ms")
	b.ReportMetric(withChecks.Seconds()*1e3, "checked-ms")
	b.ReportMetric(action.Seconds()*1e3, "action-ms")
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
