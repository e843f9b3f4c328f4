package programtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// allShown is true once no visible canvas has a message over it.
const allShown = `[...document.querySelectorAll(".card:not([hidden]) .words")].every((w) => w.hidden)`

// TestShots makes pictures of every state of the page, for people to look at, at three
// widths, light and dark:
//
//	SCREENSHOTS=folder go test ./cmd/ahp-canvas/internal/programtest -run TestShots
func TestShots(t *testing.T) {
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		t.Skip("set SCREENSHOTS to a folder to get pictures of the page")
	}
	for _, mode := range []string{"light", "dark"} {
		t.Run(mode, func(t *testing.T) { shoot(t, dir, mode) })
	}
}

func shoot(t *testing.T, dir, mode string) {
	m := newMachine(t)
	served := m.serve("--state", "memory")
	scheme := map[string]string{"dark": "0", "light": "1"}[mode]
	b := webtest.Start(t, "blink-settings=preferredColorScheme="+scheme)
	var p *webtest.Page
	all := func(name string) {
		t.Helper()
		for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {390, 844}} {
			p.Resize(t, size[0], size[1])
			p.WaitAtMost(webtest.Timeout/4, allShown)
			webtest.Eval[bool](t, p, `new Promise((r) => setTimeout(() => r(true), 700))`)
			at := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, size[0], mode))
			if err := os.WriteFile(at, p.Screenshot(t), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p.Resize(t, 1440, 900)
	}
	count := func(n int) {
		t.Helper()
		p.Wait(t, fmt.Sprintf(`document.querySelectorAll(".card").length === %d`, n))
	}
	p = b.Open(t, served.Link)
	p.Wait(t, `document.getElementById("connection").textContent !== "Connecting…"`)
	all("first")
	if webtest.Eval[int](t, p, `document.querySelectorAll(".card").length`) > 0 {
		m.do(0, "close", "board")
	}
	count(0)
	all("empty")
	m.openBoard()
	count(1)
	all("board")
	m.do(0, "close", "release")
	m.openChart()
	count(1)
	all("chart")
	m.openBoard()
	count(2)
	all("two")
	webtest.Eval[any](t, p, `void document.querySelector(".card .maximize").click()`)
	m.openForm()
	count(3)
	all("maximized-request")
	webtest.Eval[any](t, p, `void document.querySelector(".card:not([hidden]) .maximize").click()`)
	m.do(0, "close", "release")
	m.do(0, "close", "chart")
	count(1)
	all("form")
	m.openChart()
	m.openBoard()
	for i := range 27 {
		m.do(0, "open", "board", "--instance", fmt.Sprintf("b%d", i), "--input", fmt.Sprintf(`{"title":"Board number %d","lists":["To do","Done"]}`, i))
	}
	count(30)
	all("thirty")
	if webtest.Eval[bool](t, p, `!!document.getElementById("switch")`) {
		webtest.Eval[any](t, p, `void document.getElementById("switch").click()`)
		all("switcher")
		p.Keys(t, "\x1b")
	}
	p = b.Open(t, served.Link[:strings.Index(served.Link, "#")]+"#tkn=wrong")
	p.Wait(t, `!document.getElementById("empty").hidden`)
	all("refused")
	p = b.Open(t, served.Link[:strings.Index(served.Link, "#")])
	p.Wait(t, `!document.getElementById("empty").hidden`)
	all("no-link")
	p = b.Open(t, strings.ReplaceAll(served.Link, "#", "#session=ahp-session:/none&"))
	p.Wait(t, `!document.getElementById("empty").hidden`)
	all("bad-session")
	p = b.Open(t, served.Link)
	count(30)
	served.stop(syscall.SIGTERM)
	p.Wait(t, `!document.getElementById("banner").hidden`)
	all("gone")
}
