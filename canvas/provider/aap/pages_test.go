package aap_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// TestPages: rule 25: which files are pages, and their order.
func TestPages(t *testing.T) {
	e := open(t)
	if pages, err := e.Pages(agentID); err != nil || pages != nil {
		t.Errorf("no folder: %v, %v", pages, err)
	}
	deep := strings.Repeat("d/", 15)
	for n, name := range []string{"a.html", "reports/b.HTM", "note.txt", ".h.html", ".d/x.html", "interactions/i.html", "a..b.html", deep + "ok.html", deep + "d/d/low.html", "sub/interactions/c.html"} {
		e.page(name, "<p>")
		at := time.Now().Add(time.Duration(-n) * time.Hour)
		if err := os.Chtimes(e.canvas(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(e.canvas("a.html"), e.canvas("link.html")), os.Symlink(e.root, e.canvas("dir")), os.Mkdir(e.canvas("folder.html"), 0o755)); err != nil {
		t.Fatal(err)
	}
	pages, err := e.Pages("auth")
	var got []string
	for _, p := range pages {
		got = append(got, p.Path)
	}
	if want := "a.html reports/b.HTM " + deep + "ok.html sub/interactions/c.html"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("pages %q, %v", got, err)
	}
}

// TestPageBadInput: what is no page reads as absent.
func TestPageBadInput(t *testing.T) {
	e := open(t, func(o *aap.Options) { o.Limits.PageBytes = 100 })
	e.page("full.html", strings.Repeat("x", 100))
	e.page("big.html", strings.Repeat("x", 101))
	e.page("note.txt", "")
	if err := errors.Join(os.Symlink("full.html", e.canvas("link.html")), os.Mkdir(e.canvas("folder.html"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"full.html": "", "big.html": "too_large file", "note.txt": "invalid_request file", "missing.html": "not_found", "link.html": "not_found",
		"folder.html": "not_found", "../x.html": "invalid_request file", "/x.html": "invalid_request file", "": "invalid_request file",
	} {
		if _, _, err := e.Page(agentID, file); code(err) != want {
			t.Errorf("%q: %q, want %q", file, code(err), want)
		}
	}
	if _, _, err := e.Page(agentID, "link.html"); err == nil || !strings.HasPrefix(err.Error(), "Canvas file 'link.html' not found") {
		t.Errorf("a link: %v", err)
	}
}

// TestWriteAndDeletePage: atomic, with folders, never outside, and never a record.
func TestWriteAndDeletePage(t *testing.T) {
	e := open(t, func(o *aap.Options) { o.Limits.PageBytes = 100 })
	if p, created, err := e.WritePage(agentID, "a/b/c.html", []byte("one")); err != nil || !created || p.Size != 3 {
		t.Errorf("wrote %+v, %v, %v", p, created, err)
	}
	if _, created, err := e.WritePage(agentID, "a/b/c.html", []byte("two")); err != nil || created {
		t.Errorf("created %v, %v", created, err)
	}
	outside := filepath.Join(e.root, "outside.html")
	if err := errors.Join(os.WriteFile(outside, []byte("outside"), 0o644), os.Symlink(outside, e.canvas("link.html")), os.Symlink(e.root, e.canvas("dir"))); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"link.html": "", "dir/outside.html": "internal_error", "interactions/x.html": "invalid_request file", "x.json": "invalid_request file", "../x.html": "invalid_request file",
	} {
		if _, _, err := e.WritePage(agentID, file, []byte("new")); code(err) != want {
			t.Errorf("write %q: %q, want %q", file, code(err), want)
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "outside" {
		t.Errorf("the file outside is %q, %v", b, err)
	}
	if _, _, err := e.WritePage(agentID, "x.html", make([]byte, 101)); code(err) != "too_large html" {
		t.Errorf("too large: %v", err)
	}
	for file, want := range map[string]string{"a/b/c.html": "", "a/b/c.htm": "not_found", "a": "invalid_request file", "dir/outside.html": "not_found"} {
		if err := e.DeletePage(agentID, file); code(err) != want {
			t.Errorf("delete %q: %q, want %q", file, code(err), want)
		}
	}
	if _, _, err := e.Page(agentID, "a/b/c.html"); code(err) != "not_found" {
		t.Errorf("deleted: %v", err)
	}
}

// TestSwappedForALink: rule 15: a file that is replaced by a link again and again is read
// as itself or not at all.
func TestSwappedForALink(t *testing.T) {
	n := 2000
	if os.Getenv("AHP_LONG") != "" {
		n = 10_000
	}
	e := open(t)
	e.page("good", "good")
	e.page("inner", "inner")
	e.write("secret", "secret")
	swap := func(make func(temp string) error) {
		temp := e.canvas("temp")
		if err := errors.Join(make(temp), os.Rename(temp, e.canvas("p.html"))); err != nil {
			t.Error(err)
		}
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for range n {
			swap(func(temp string) error { return os.Link(e.canvas("good"), temp) })
			swap(func(temp string) error { return os.Symlink(filepath.Join(e.root, "secret"), temp) })
			swap(func(temp string) error { return os.Link(e.canvas("good"), temp) })
			swap(func(temp string) error { return os.Symlink("inner", temp) })
		}
		stop.Store(true)
	})
	reads := 0
	for !stop.Load() {
		if html, _, err := e.Page(agentID, "p.html"); err == nil && string(html) != "good" {
			t.Errorf("read %q", html)
		} else if err == nil {
			reads++
		}
	}
	wg.Wait()
	if reads == 0 {
		t.Error("the file was never read")
	}
}

// TestWatch: rule 30: a page is reported once it stood still, and once: one that is shown
// is looked at every half second, others every two seconds.
func TestWatch(t *testing.T) { synctest.Test(t, watches) }

func watches(t *testing.T) {
	e := open(t)
	e.page("old.html", "old")
	var mu sync.Mutex
	var reported []string
	e.Watch(func(c aap.Change) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, fmt.Sprint(c.Kind, " ", c.File))
	})
	take := func() (changes []string) {
		mu.Lock()
		defer mu.Unlock()
		changes, reported = reported, nil
		return changes
	}
	expect := func(within time.Duration, kind aap.ChangeKind, file string) {
		t.Helper()
		var changes []string
		for end := time.Now().Add(within); len(changes) == 0 && time.Now().Before(end); changes = take() {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
		if want := fmt.Sprint(kind, " ", file); len(changes) != 1 || changes[0] != want {
			t.Errorf("got %q, want %s", changes, want)
		}
	}
	e.page("new.html", "new")
	expect(2600*time.Millisecond, aap.PageNew, "new.html")
	stop := e.WatchPage(agentID, "old.html")
	e.page("old.html", "changed")
	expect(1100*time.Millisecond, aap.PageChanged, "old.html")
	if err := os.Remove(e.canvas("old.html")); err != nil {
		t.Fatal(err)
	}
	expect(1100*time.Millisecond, aap.PageGone, "old.html")
	e.page("old.html", "again")
	expect(1100*time.Millisecond, aap.PageNew, "old.html")
	for n := range 20 { // a page that is written again and again is reported when that ends
		e.page("old.html", strings.Repeat("x", 100+n))
		time.Sleep(300 * time.Millisecond)
	}
	synctest.Wait()
	if changes := take(); len(changes) > 0 {
		t.Errorf("reported while it changed: %q", changes)
	}
	expect(1100*time.Millisecond, aap.PageChanged, "old.html")
	stop()
	if _, _, err := e.WritePage(agentID, "w.html", []byte("w")); err != nil {
		t.Fatal(err)
	}
	expect(1100*time.Millisecond, aap.PageNew, "w.html") // the store looks at once
	e.submit(click(""))
	if changes := take(); len(changes) != 1 || changes[0] != fmt.Sprint(aap.RecordStored, " p.html") {
		t.Errorf("a record: %q", changes)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
