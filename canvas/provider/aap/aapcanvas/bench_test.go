package aapcanvas_test

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
// record is on the disk by then, and of a folder's page.
func BenchmarkPress(b *testing.B) {
	e := start(b).serve()
	page := `<!doctype html><script type="module">import { send } from "/.ahp/canvas.js"; window.plain = send</script>`
	e.write("p.html", page)
	browser := webtest.Start(b)
	for _, id := range []string{"p", "plain"} {
		if id == "p" {
			e.open("p.html")
		} else {
			if err := e.host.Canvases().Close(b.Context(), host.DefaultSession, "p"); err != nil {
				b.Fatal(err)
			}
			e.withFolder(page)
		}
		tab := browser.Open(b, e.link)
		frame := tab.Frames(b, 1, webtest.ContentFrame)[0]
		frame.Wait(b, `document.querySelector("iframe").contentWindow.plain`)
		b.Run(id, func(b *testing.B) {
			cursor := int64(0)
			for b.Loop() {
				cursor = e.press(b, frame, id, cursor)
			}
		})
		tab.Close()
	}
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
