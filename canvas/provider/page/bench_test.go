package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// painted is a page that sends when it was painted, in milliseconds of the clock.
const painted = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Painted</title><h1>Round 0</h1>
<script type="module">import { send } from "/.ahp/canvas.js";
requestAnimationFrame(() => setTimeout(() => send({ round: document.querySelector("h1").textContent, at: performance.timeOrigin + performance.now() })));</script>`

// race is a host on a disk whose agent shows the same page from a call and from a folder.
type race struct {
	b      *testing.B
	door   *mcp.Client
	folder string
	cursor int64
}

func newRace(b *testing.B) *race {
	store, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "store"), sqlitestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	h, err := host.New(host.Options{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	r := &race{b: b, folder: filepath.Join(b.TempDir(), "site")}
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		b.Fatal(err)
	}
	r.write(painted)
	f, err := folder.Open(r.folder)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	p := page.New(page.Options{Dir: b.TempDir(), ListOpen: h.Canvases().ListOpen})
	b.Cleanup(p.Close)
	hosttest.Serve(b, h)
	if _, err := h.Add(p); err != nil {
		b.Fatal(err)
	}
	if _, err := h.Add(f); err != nil {
		b.Fatal(err)
	}
	_, token := h.Tokens()
	if r.door, err = mcp.Dial(b.Context(), mcp.ClientOptions{URL: h.Endpoints().MCP, Token: token}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.door.Close)
	tab := webtest.Start(b).Open(b, h.Link(host.DefaultSession))
	tab.Wait(b, `document.querySelector("#empty:not([hidden])") || document.body.textContent.includes("Connected")`)
	return r
}

// write replaces the folder's page, as an editor does.
func (r *race) write(text string) {
	name := filepath.Join(r.folder, "index.html")
	err := os.WriteFile(name+".new", []byte(text), 0o644)
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		r.b.Fatal(err)
	}
}

func (r *race) call(tool string, args any) {
	r.b.Helper()
	if _, err := r.door.Call(r.b.Context(), tool, ahp.MustMarshal(args)); err != nil {
		r.b.Fatal(err)
	}
}

// until returns the time from now until a round was painted, in milliseconds.
func (r *race) until(round string, do func()) float64 {
	r.b.Helper()
	began := time.Now()
	do()
	for {
		raw, err := r.door.Call(r.b.Context(), mcp.ToolWait, ahp.MustMarshal(map[string]any{"after": r.cursor, "timeout": 20}))
		var got struct {
			Events []struct {
				Event struct {
					Message struct {
						Round string  `json:"round"`
						At    float64 `json:"at"`
					} `json:"message,omitzero"`
					Rest ahp.Value `json:",embed"`
				} `json:"event"`
				Rest ahp.Value `json:",embed"`
			} `json:"events"`
			Next    int64 `json:"next"`
			Dropped int64 `json:"dropped"`
		}
		if err == nil {
			err = ahp.Unmarshal(raw, &got)
		}
		if err != nil || len(got.Events) == 0 {
			r.b.Fatalf("%s was not painted: %s %v", round, raw, err)
		}
		r.cursor = got.Next
		for _, e := range got.Events {
			if e.Event.Message.Round == round {
				return e.Event.Message.At - float64(began.UnixMicro())/1000
			}
		}
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// report reports two medians in milliseconds, and their ratio.
func report(b *testing.B, pages, folders []float64) {
	b.ReportMetric(median(pages), "ms/page")
	b.ReportMetric(median(folders), "ms/folder")
	b.ReportMetric(median(pages)/median(folders), "page/folder")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOpen measures from an agent's call of open_canvas to the painted page: of a
// page in the call, and of a folder.
func BenchmarkOpen(b *testing.B) {
	r := newRace(b)
	var pages, folders []float64
	for b.Loop() {
		pages = append(pages, r.until("Round 0", func() {
			r.call(mcp.ToolOpen, map[string]any{"canvasId": "page", "instanceId": "p", "input": map[string]string{"html": painted}})
		}))
		r.call(mcp.ToolClose, map[string]string{"instanceId": "p"})
		folders = append(folders, r.until("Round 0", func() { r.call(mcp.ToolOpen, map[string]string{"canvasId": "site", "instanceId": "f"}) }))
		r.call(mcp.ToolClose, map[string]string{"instanceId": "f"})
	}
	report(b, pages, folders)
}

// BenchmarkEdit measures from an agent's call of edit_file to the painted change, and from
// the change of a folder's file.
func BenchmarkEdit(b *testing.B) {
	r := newRace(b)
	r.until("Round 0", func() {
		r.call(mcp.ToolOpen, map[string]any{"canvasId": "page", "instanceId": "p", "input": map[string]string{"html": painted}})
	})
	r.until("Round 0", func() { r.call(mcp.ToolOpen, map[string]string{"canvasId": "site", "instanceId": "f"}) })
	var pages, folders []float64
	for n := 0; b.Loop(); n++ {
		old, now := fmt.Sprintf("Round %d", n), fmt.Sprintf("Round %d", n+1)
		pages = append(pages, r.until(now, func() {
			r.call(mcp.ToolInvoke, map[string]any{"instanceId": "p", "actionName": "edit_file", "input": map[string]any{"path": "index.html", "edits": []map[string]string{{"old": old, "new": now}}}})
		}))
		folders = append(folders, r.until(now, func() { r.write(strings.Replace(painted, "Round 0", now, 1)) }))
	}
	report(b, pages, folders)
}
