package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// write makes a folder of files, by name.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "My report")
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openFolder(t testing.TB, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func (f *Folder) get(path, etag string) (canvas.Content, error) {
	_, p, err := canvas.ParseContentURI("ahp-canvas-content:/i" + path)
	if err != nil {
		return canvas.Content{}, err
	}
	return (&instance{folder: f}).Read(context.Background(), canvas.ReadRequest{Path: p, ETag: etag})
}

func TestProvider(t *testing.T) {
	f := openFolder(t, write(t, map[string]string{"index.html": "<p>hello"}))
	canvastest.TestProvider(t, canvastest.Config{Provider: f, Declaration: f.Declarations()[0], Path: "/"})
}

func TestOpened(t *testing.T) {
	f := openFolder(t, write(t, map[string]string{"canvas.json": `{` + minimal + `,"title":"The report","entry":"app/a b.html?x=1","actions":[{"name":"go"}]}`, "app/a b.html": "<p>"}))
	h := canvastest.New(t, engine.Options{})
	h.Register(f.Extension(), f, f.Declarations()...)
	o := h.Open("report", "one", nil)
	if o.Title != "The report" || o.URL != "ahp-canvas-content:/one/app/a%20b.html?x=1" {
		t.Errorf("opened as %+v", o)
	}
}

func TestRead(t *testing.T) {
	dir := write(t, map[string]string{
		"canvas.json": `{` + minimal + `}`, "index.html": "root", "sub/index.html": "sub", "a b.css": "css", "x.unknown": "?",
		".env": "secret", ".git/config": "secret", "sub/.hidden": "secret", "canvas.json.txt": "fine", "empty.txt": "",
	})
	outside := filepath.Join(filepath.Dir(dir), "outside.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out.txt": outside, "up": "..", "in.txt": "a b.css", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	f := openFolder(t, dir)
	for path, want := range map[string]string{
		"/": "root text/html", "/index.html": "root text/html", "/sub/": "sub text/html", "/a%20b.css": "css text/css", "/a%20b.css?v=1": "css text/css",
		"/x.unknown": "? application/octet-stream", "/canvas.json.txt": "fine text/plain", "/in.txt": "css text/plain", "/empty.txt": " text/plain",
	} {
		c, err := f.get(path, "")
		if err != nil || string(c.Data)+" "+c.ContentType != want || c.ETag == "" {
			t.Errorf("%s: %q %s, %v, want %s", path, c.Data, c.ContentType, err, want)
		}
	}
	for _, path := range []string{"/none", "/sub", "/canvas.json", "/.env", "/.git/config", "/sub/.hidden", "/out.txt", "/up/outside.txt", "/index.html/", "/index.html/x", "/none/", "/loop", "/" + strings.Repeat("x", 300)} {
		if c, err := f.get(path, ""); !errors.Is(err, fs.ErrNotExist) { // missing and forbidden files have the same answer
			t.Errorf("%.20s gave %q, %v", path, c.Data, err)
		}
	}
}

// TestValidator: the validator of an old file is size and time, of a new one its hash.
func TestValidator(t *testing.T) {
	dir := write(t, map[string]string{"index.html": "x", "a.txt": "one"})
	name := filepath.Join(dir, "a.txt")
	f := openFolder(t, dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	set := func(text string, mtime time.Time) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, mtime, mtime); err != nil {
			t.Fatal(err)
		}
	}
	read := func(etag string) canvas.Content {
		t.Helper()
		c, err := f.get("/a.txt", etag)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	f.now = func() time.Time { return at.Add(time.Second) }
	set("one", at)
	fresh := read("")
	if c := read(fresh.ETag); !c.NotModified {
		t.Error("the same content was sent again")
	}
	set("two", at) // same size, same time
	if c := read(fresh.ETag); c.NotModified || string(c.Data) != "two" {
		t.Error("a change within the clock's resolution was missed")
	}
	f.now = func() time.Time { return at.Add(time.Hour) }
	old := read("")
	if c := read(old.ETag); !c.NotModified || c.Data != nil || old.ETag == fresh.ETag {
		t.Error("the same file was sent again")
	}
	set("six", at.Add(time.Minute))
	if c := read(old.ETag); c.NotModified || string(c.Data) != "six" {
		t.Error("a change was missed")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := f.get("/a.txt", old.ETag); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
}
