package programtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// evidence is a host with existing canvases: extensions on the published SDK, web apps
// from npm, and a folder. A page in a real browser shows them. Only open differs between
// the ways to reach the host.
type evidence struct {
	whole  *testing.T // what tabs and frames live as long as
	m      *machine   // the host's
	npm    string     // folder of extensions and npm's programs
	live   string     // port of an app that ticks and floods, on the host's machine
	server *server
	tab    *webtest.Page
	frames map[string]*webtest.Page // outer frames, by the title that they were mounted with
	netlog string                   // what the browser asked for, once it has ended
}

// bigFile is the size of the folder's one large file.
const bigFile = 10 << 20

// titles are those of the canvases that serve opens.
var titles = []string{"Counters", "Token", "Files", "pages", "cards", "live", "flood", "big"}

// installed returns a copy of the test extensions with their npm packages, which are
// installed once for all tests.
var installed = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(binary), "npm")
	if err := os.CopyFS(dir, os.DirFS("../../../../canvas/provider/extension/testdata")); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	// The optional packages are the SDK's own runtimes, which these tests do not use.
	cmd := exec.CommandContext(ctx, "npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

// missing skips a test that needs something this machine lacks, and fails it in the gate.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// newEvidence prepares the evidence on a host's machine. The test can have changed its
// network with m.via.
func newEvidence(t *testing.T, m *machine) *evidence {
	needNode(t)
	dir, err := installed()
	if err != nil {
		missing(t, err.Error())
	}
	return &evidence{whole: t, m: m, npm: dir, frames: map[string]*webtest.Page{}, netlog: filepath.Join(t.TempDir(), "netlog.json")}
}

// serve starts the apps, and the host with all its canvases.
func (e *evidence) serve(t *testing.T, more ...string) {
	t.Helper()
	folder := webFolder(t, "big")
	if err := os.WriteFile(filepath.Join(folder, "big.bin"), pattern(bigFile), 0o644); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "db.json")
	if err := os.WriteFile(db, []byte(`{"cards":[{"id":1,"title":"first"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	bin, local := filepath.Join(e.npm, "node_modules", ".bin"), "127.0.0.1"
	pages, cards, flood := freePort(t), freePort(t), freePort(t)
	e.live = freePort(t)
	e.app(t, "Available on", filepath.Join(bin, "http-server"), e.npm, "-a", local, "-p", pages)
	e.app(t, "Home", filepath.Join(bin, "json-server"), db, "--host", local, "--port", cards)
	e.app(t, "listens", "node", "testdata/live/live.mjs", e.live, "live")
	e.app(t, "listens", "node", "testdata/live/live.mjs", flood, "flood")
	args := append([]string{"--canvas", folder}, more...)
	for _, name := range []string{"counter", "token", "files"} {
		args = append(args, "--extension", filepath.Join(e.npm, name))
	}
	for _, app := range [][2]string{{"pages", pages}, {"cards", cards}, {"live", e.live}, {"flood", flood}} {
		args = append(args, "--canvas-url", app[0]+"=http://"+local+":"+app[1]+"/")
	}
	e.server = e.m.serve(args...)
}

// pattern returns n bytes that are not all the same.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// app starts a web app on the host's machine and waits until it prints a text. The app
// ends with the test.
func (e *evidence) app(t *testing.T, says string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	line := append(slices.Clone(e.m.via), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	out := &lockedBuffer{}
	told := make(chan struct{})
	cmd.Stdout = writerFunc(func(p []byte) (int, error) {
		before := strings.Contains(out.String(), says)
		n, err := out.Write(p)
		if !before && strings.Contains(out.String(), says) {
			close(told)
		}
		return n, err
	})
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	select {
	case <-told:
	case <-ended:
		t.Fatalf("%q ended:\n%s", args, out)
	case <-time.After(webtest.Timeout):
		t.Fatalf("%q did not say that it listens:\n%s", args, out)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// open shows the host's page in a browser that logs its network requests.
func (e *evidence) open(t *testing.T, flags ...string) {
	t.Helper()
	t.Cleanup(func() { e.onlyTheHost(t) }) // when the browser has ended
	began := time.Now()
	b := webtest.Start(t, append(flags, "log-net-log="+e.netlog)...)
	started := time.Now()
	e.tab = b.Open(t, e.server.Link)
	e.shown(t, len(titles))
	t.Logf("the browser was there after %d ms, %d canvases %d ms later", started.Sub(began).Milliseconds(), len(titles), time.Since(started).Milliseconds())
	e.tab.DisableNetworkEvents(t)
}

// shown waits until n canvases are open, and those that the page shows are mounted.
func (e *evidence) shown(t *testing.T, n int) {
	t.Helper()
	e.tab.Wait(t, fmt.Sprintf(`document.querySelectorAll(".card").length === %d && [...document.querySelectorAll(".card .words")].every((w) => w.hidden)`, n))
	e.mounted(t)
}

// mounted looks up the frames of the mounted canvases.
func (e *evidence) mounted(t *testing.T) {
	t.Helper()
	e.frames = map[string]*webtest.Page{}
	n := webtest.Eval[int](t, e.tab, `document.querySelectorAll(".card iframe").length`)
	for _, f := range e.tab.Frames(e.whole, n, webtest.ContentFrame) {
		e.frames[webtest.Eval[string](t, f, "document.title")] = f
	}
}

// win is the expression for a canvas's own window in its outer frame.
const win = `document.querySelector("iframe").contentWindow`

// in runs the body of an async function in a canvas's page.
func in[T any](t *testing.T, e *evidence, title, body string) T {
	t.Helper()
	return webtest.Eval[T](t, e.frame(t, title), win+fmt.Sprintf(`.eval(%q)`, "(async () => {"+body+"})()"))
}

// frame returns the outer frame of a canvas. A canvas that is not visible is chosen among
// the tabs: only then the page mounts it.
func (e *evidence) frame(t *testing.T, title string) *webtest.Page {
	t.Helper()
	if webtest.Eval[bool](t, e.tab, fmt.Sprintf(`(() => {
		const card = %s;
		if (card && !card.hidden && card.querySelector("iframe")) return false;
		[...document.querySelectorAll("#tabs .tab")].find((tab) => tab.textContent.startsWith(%q))?.click();
		return true;
	})()`, cardOf(title), title)) {
		e.tab.Wait(t, fmt.Sprintf(`((card) => card && !card.hidden && card.querySelector("iframe") && card.querySelector(".words").hidden)(%s)`, cardOf(title)))
		e.mounted(t)
	}
	f := e.frames[title]
	if f == nil {
		t.Fatalf("there is no canvas %q", title)
	}
	return f
}

// cardOf is an expression for the card of a canvas.
func cardOf(title string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".card")].find((c) => c.querySelector("h2").textContent === %q)`, title)
}

// await waits until an expression is true in a canvas's page.
func (e *evidence) await(t *testing.T, title, expression string) {
	t.Helper()
	e.frame(t, title).Wait(t, win+fmt.Sprintf(`.eval(%q)`, expression))
}

// click clicks the first element that a selector finds in a canvas's page.
func (e *evidence) click(t *testing.T, title, selector string) {
	t.Helper()
	clickIn(t, e.tab, e.frame(t, title), title, selector)
}

// clickIn clicks with the mouse on the first element that a selector finds in the page of a
// canvas, which a tab shows in a frame.
func clickIn(t *testing.T, tab, frame *webtest.Page, title, selector string) {
	t.Helper()
	const middle = `(() => { const r = %s.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2, r.x, r.y] })()`
	card := cardOf(title) + `.querySelector("iframe")`
	// The browser looks for a frame under the mouse where it painted it last.
	const painted = `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))`
	webtest.Eval[any](t, tab, card+`.scrollIntoView({ block: "center", behavior: "instant" }), `+painted)
	webtest.Eval[any](t, frame, painted)
	webtest.Eval[any](t, tab, painted)
	outer := webtest.Eval[[]float64](t, tab, fmt.Sprintf(middle, card))
	at := webtest.Eval[[]float64](t, frame, fmt.Sprintf(middle, fmt.Sprintf(`document.querySelector("iframe").contentDocument.querySelector(%q)`, selector)))
	tab.ClickAt(t, outer[2]+at[0], outer[3]+at[1])
}

// screenshot saves a picture if the environment names a folder for it.
func (e *evidence) screenshot(t *testing.T, name string) {
	t.Helper()
	png := e.tab.Screenshot(t)
	if dir := os.Getenv("AHP_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+"-"+name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pid returns the process id of an extension.
func (e *evidence) pid(t *testing.T, extension string) int {
	t.Helper()
	found := regexp.MustCompile(`process (\d+) started`).FindAllStringSubmatch(e.m.do(0, "extension", "logs", extension), -1)
	if found == nil {
		t.Fatalf("the log of %s names no process: %s", extension, e.m.lastOut)
	}
	pid, _ := strconv.Atoi(found[len(found)-1][1])
	return pid
}

// TestEvidenceDirect has a page that reaches the host at its own listener.
func TestEvidenceDirect(t *testing.T) {
	e := newEvidence(t, newMachine(t))
	e.serve(t)
	e.open(t)
	e.all(t)
}
