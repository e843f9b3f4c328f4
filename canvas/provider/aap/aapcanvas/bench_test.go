package aapcanvas_test

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
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// withFolder adds a folder canvas with the same page, so that both are measured in one host.
func (e *env) withFolder(page string) {
	e.t.Helper()
	dir := filepath.Join(e.t.TempDir(), "plain")
	if err := os.Mkdir(dir, 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(page), 0o644); err != nil {
		e.t.Fatal(err)
	}
	f, err := folder.Open(dir)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = f.Close() })
	if _, err := e.host.Add(f); err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.host.Canvases().Open(e.t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "plain", InstanceID: "plain"}); err != nil {
		e.t.Fatal(err)
	}
}

// BenchmarkRead reads a page of 64 KiB through a host, beside the same page of a folder.
func BenchmarkRead(b *testing.B) {
	e := start(b).serve()
	page := "<!doctype html><head></head>" + strings.Repeat("<p>text</p>\n", 64<<10/12)
	e.write("p.html", page)
	e.open("p.html")
	e.withFolder(page)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(e.path("p.html"), old, old); err != nil {
		b.Fatal(err)
	}
	token, _ := e.host.Tokens()
	open, err := e.host.Canvases().ListOpen(host.DefaultSession)
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range open {
		b.Run(o.CanvasID, func(b *testing.B) {
			p := e.connect(token, o.Channel)
			for b.Loop() {
				if _, err := p.c.ReadResource(b.Context(), o.Channel, canvas.ContentURL(o.InstanceID, "/"+map[string]string{"plain": "index.html"}[o.InstanceID])); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPress measures from a send in Chromium to the agent's event: of an AAP page, whose
// record is on the disk by then, of a folder's page beside it, and the storing of a record
// alone. x-plain is the ratio to the folder's page, and x-sum to that and the storing: an
// event never comes before its record is on the disk.
func BenchmarkPress(b *testing.B) {
	e := start(b).serve()
	page := `<!doctype html><script type="module">import { send } from "/.ahp/canvas.js"; window.plain = send</script>`
	e.write("p.html", page)
	e.open("p.html")
	e.withFolder(page)
	tab := webtest.Start(b).Open(b, e.link)
	frames := map[string]*webtest.Page{}
	for _, frame := range tab.Frames(b, 2, webtest.ContentFrame) {
		frame.Wait(b, `document.querySelector("iframe").contentWindow.plain`)
		id := "plain"
		if webtest.Eval[bool](b, frame, `Boolean(document.querySelector("iframe").contentWindow.maestro)`) {
			id = "p"
		}
		frames[id] = frame
	}
	cursor, took := int64(0), map[string][]time.Duration{}
	for b.Loop() { // side by side, so that all meet the same load
		for _, id := range []string{"p", "plain"} {
			began := time.Now()
			cursor = e.press(b, frames[id], id, cursor)
			took[id] = append(took[id], time.Since(began))
		}
		began := time.Now()
		if _, err := e.store.Submit(b.Context(), agent, aap.Interaction{Action: "click", CanvasFile: "other.html"}); err != nil {
			b.Fatal(err)
		}
		took["disk"] = append(took["disk"], time.Since(began))
	}
	median := func(id string) float64 { slices.Sort(took[id]); return float64(took[id][len(took[id])/2]) }
	b.ReportMetric(median("p")/median("plain"), "x-plain")
	b.ReportMetric(median("p")/(median("plain")+median("disk")), "x-sum")
	b.ReportMetric(median("disk")/1e6, "disk-ms")
}

// press sends a message in the page, and waits for the agent's event.
func (e *env) press(b *testing.B, frame *webtest.Page, id string, cursor int64) int64 {
	send := `maestro.send("click", "b")`
	if id == "plain" {
		send = `plain({ clicked: 1 })`
	}
	webtest.Eval[bool](b, frame, fmt.Sprintf(`(document.querySelector("iframe").contentWindow.%s, true)`, send))
	for {
		page, err := e.host.Canvases().Events(b.Context(), host.DefaultSession, cursor, 10*time.Second)
		if err != nil {
			b.Fatal(err)
		}
		cursor = page.Next
		for _, ev := range page.Events {
			if ev.InstanceID == id && !ahp.Equal(ev.Event, ahp.Null) {
				return cursor
			}
		}
	}
}
