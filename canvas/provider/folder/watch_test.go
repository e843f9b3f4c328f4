package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// reader is a page of an open folder that has read files.
type reader struct {
	t    *testing.T
	dir  string
	host *canvastest.Host
	page *canvastest.View
	o    canvas.OpenCanvas
}

func newReader(t *testing.T, dir string, paths ...string) *reader {
	t.Helper()
	r := &reader{t: t, dir: dir}
	r.host, r.o, r.page = opened(t, dir)
	for _, p := range paths {
		r.read(p)
	}
	return r
}

func (r *reader) read(path string) {
	r.t.Helper()
	p := canvas.CanvasReadResourceParams{Channel: r.o.Channel, URI: canvas.ContentURL("one", path)}
	if _, err := r.host.Canvases.Content.CanvasReadResource(r.t.Context(), r.page.Sub, p); err != nil {
		r.t.Fatal(err)
	}
}

// change writes a file as a whole; at tells its modification time from others.
func (r *reader) change(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// reloads returns how often the page was reloaded during a time.
func (r *reader) reloads(in time.Duration) int {
	r.t.Helper()
	time.Sleep(in)
	synctest.Wait()
	n := 0
	for _, e := range r.page.Take() {
		if strings.Contains(string(e.Action), `"type":"reload"`) {
			n++
		}
	}
	return n
}

func (r *reader) want(n int, in time.Duration, what string) {
	r.t.Helper()
	if got := r.reloads(in); got != n {
		r.t.Errorf("%s: %d reloads in %v, want %d", what, got, in, n)
	}
}

func watching(t *testing.T, run func(*reader)) {
	t.Helper()
	dir := write(t, map[string]string{"index.html": "page", "app.js": "script", "unread.txt": "x"})
	synctest.Test(t, func(t *testing.T) { run(newReader(t, dir, "/", "/app.js")) })
}

func TestReload(t *testing.T) {
	watching(t, func(r *reader) {
		r.want(0, time.Minute, "nothing happened")
		r.change("app.js", "another script")
		r.want(1, 2*time.Second, "a change")
		r.want(0, time.Minute, "after it")
		r.change("unread.txt", "a file that no page has read")
		r.want(0, time.Minute, "an unread file")
		r.read("/unread.txt")
		r.change("unread.txt", "read now")
		r.want(1, 2*time.Second, "a file that was read later")
	})
}

// TestEditors: each way in which programs write files causes one reload.
func TestEditors(t *testing.T) {
	watching(t, func(r *reader) {
		name := filepath.Join(r.dir, "index.html")
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		r.change("index.html~", "PAGE") // same size
		if err := os.Chtimes(name+"~", info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+"~", name); err != nil {
			t.Fatal(err)
		}
		r.want(1, 2*time.Second, "written beside and renamed over it")

		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		r.want(0, 1200*time.Millisecond, "gone for a second")
		r.change("index.html", "back")
		r.want(1, 2*time.Second, "back again")

		for range 3 { // a build that writes for some time
			r.change("app.js", strings.Repeat("x", len(r.text("app.js"))+1))
			time.Sleep(watchInterval)
		}
		r.want(1, 2*time.Second, "many changes")

		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		r.want(1, 10*time.Second, "gone for good")
	})
}

func (r *reader) text(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// TestConstantChange: a file that changes all the time does not prevent reloads.
func TestConstantChange(t *testing.T) {
	watching(t, func(r *reader) {
		time.Sleep(watchInterval / 2) // between two checks, so that each check sees one change
		for range 4 * maxPostponed {
			r.change("app.js", strings.Repeat("x", len(r.text("app.js"))+1))
			time.Sleep(watchInterval)
		}
		synctest.Wait()
		if n := r.reloads(0); n < 3 || n > 4 {
			t.Errorf("%d reloads during %d checks with a change", n, 4*maxPostponed)
		}
	})
}

// TestWatchEnds: the goroutine ends with the last canvas, and with the folder. The test
// would not end otherwise.
func TestWatchEnds(t *testing.T) {
	watching(t, func(r *reader) {
		if err := r.host.Canvases.Close(r.t.Context(), canvastest.Session, "one"); err != nil {
			r.t.Fatal(err)
		}
		r.change("app.js", "after the close")
		r.want(0, 10*time.Second, "a closed canvas")
	})
	watching(t, func(r *reader) { // a stale instance is not closed
		f := openFolder(r.t, r.dir)
		reg := r.host.Register(canvas.Extension{ID: "second"}, f, f.Declarations()...)
		if _, err := r.host.Canvases.Open(r.t.Context(), canvas.OpenArgs{Session: canvastest.Session, ExtensionID: "second", CanvasID: f.ID(), InstanceID: "two"}); err != nil {
			r.t.Fatal(err)
		}
		if n := f.watch.count(); n != 1 {
			r.t.Errorf("%d instances are watched, want 1", n)
		}
		reg.SetReachable(false)
		synctest.Wait()
		if n := f.watch.count(); n != 0 {
			r.t.Errorf("%d stale instances are watched", n)
		}
	})
}

func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pages)
}

// TestWatchLimit: the number of checked files is limited.
func TestWatchLimit(t *testing.T) {
	w := newWatch(os.Stat)
	defer w.close()
	w.read("early", nil)
	w.add(&instance{})
	for n := range maxWatchedFiles + 5 {
		w.read(strings.Repeat("x", n+1), nil)
	}
	if len(w.files) != maxWatchedFiles || w.files["early"] != nil {
		t.Errorf("%d files are checked", len(w.files))
	}
}

// BenchmarkCheck measures a check of the maximum number of files.
func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		b.Fatal(err)
	}
	info, _ := os.Stat(name)
	w := newWatch(func(string) (os.FileInfo, error) { return os.Stat(name) })
	for n := range maxWatchedFiles {
		w.files[strings.Repeat("x", n)] = &watched{info, info}
	}
	for b.Loop() {
		w.check()
	}
}
