package page_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

func TestProvider(t *testing.T) {
	p := page.New(page.Options{Dir: t.TempDir()})
	canvastest.TestProvider(t, canvastest.Config{
		Provider: p, Declaration: p.Declarations()[0],
		Input: ahp.Value(`{"html":"<h1>Hi</h1>"}`), Other: ahp.Value(`{"title":"Other","html":"<h1>Ho</h1>"}`), Kept: ahp.Value(`{"title":"Other"}`),
		Action: "list_files", ActionInput: ahp.Value(`{}`), Path: "/",
		Decisions: []string{`{"x-ahp-page":"revert","ref":1,"revision":1}`},
	})
}

// bench is a host with the provider, on a store and a folder.
type bench struct {
	*canvastest.Host
	t        *testing.T
	provider *page.Provider
	dir      string
}

func newBench(t *testing.T, dir string, opts engine.Options) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir, Host: canvastest.New(t, opts)}
	b.provider = page.New(page.Options{Dir: dir, ListOpen: b.Canvases.ListOpen})
	t.Cleanup(b.provider.Close)
	b.Register(b.provider.Extension(), b.provider, b.provider.Declarations()...)
	return b
}

func (b *bench) invoke(name, input string) (string, error) {
	b.t.Helper()
	v, err := b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "p", ActionName: name, Input: ahp.Value(input)})
	return string(v), err
}

func (b *bench) do(name, input string) string {
	b.t.Helper()
	v, err := b.invoke(name, input)
	if err != nil {
		b.t.Fatalf("%s %.200s: %v", name, input, err)
	}
	return v
}

func (b *bench) refused(name, input, code, text string) {
	b.t.Helper()
	_, err := b.invoke(name, input)
	if !errors.Is(err, &canvas.Error{Code: code}) || !strings.Contains(err.Error(), text) {
		b.t.Errorf("%s %.200s: %v, want %s with %q", name, input, err, code, text)
	}
}

func (b *bench) read(path string) string {
	b.t.Helper()
	v := b.Connect("reader")
	open, err := b.Canvases.ListOpen(canvastest.Session)
	if err != nil || len(open) == 0 {
		b.t.Fatal(open, err)
	}
	v.Subscribe(open[0].Channel)
	raw, err := b.Canvases.Content.CanvasReadResource(b.t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: open[0].Channel, URI: canvas.ContentURL("p", path)})
	if err != nil {
		return err.Error()
	}
	var got canvas.CanvasReadResourceResult
	if err := ahp.Unmarshal(raw, &got); err != nil {
		b.t.Fatal(err)
	}
	if got.Contents[0].Text != nil {
		return *got.Contents[0].Text
	}
	data, err := base64.StdEncoding.DecodeString(*got.Contents[0].Blob)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) events() (all []string) {
	b.t.Helper()
	p, err := b.Canvases.Events(b.t.Context(), canvastest.Session, 0, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range p.Events {
		all = append(all, string(e.Event))
	}
	return all
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// TestFiles: the agent writes, edits, reads, reverts and exports; the state keeps the
// title only.
func TestFiles(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.Options{})
	o := b.Open("page", "p", ahp.Value(`{"title":"App","files":{"index.html":"<!doctype html><title>T</title><p>one","/js/app.js":"let a = 1;\nlet b = 1;\n","dot.png":{"base64":"iVBORw=="}}}`))
	same(t, "input", `{"title":"App"}`, string(b.State(o.Channel).Input))
	same(t, "title and status", "App Revision 1", o.Title+" "+o.Status)
	same(t, "page", `<!doctype html><script type="module" src="/.page/page.js" data-ahp-page="1"></script><title>T</title><p>one`, b.read("/"))
	same(t, "file", "let a = 1;\nlet b = 1;\n", b.read("/js/app.js"))
	same(t, "image", "\x89PNG", b.read("/dot.png"))
	same(t, "write", `{"revision":2,"files":2,"bytes":28}`, b.do("write_files", `{"files":{"index.html":"<p>two"},"delete":["dot.png"]}`))
	b.do("write_files", `{"files":{"a.txt":"x"}}`)
	if got := b.do("edit_file", `{"path":"js/app.js","edits":[{"old":"a = 1","new":"a = 2"},{"old":"a = 2;\nlet","new":"a = 3;\nvar"}]}`); !strings.Contains(got, `"revision":4`) {
		t.Errorf("edit: %s", got)
	}
	same(t, "edited", "let a = 3;\nvar b = 1;\n", b.read("/js/app.js"))
	same(t, "read_file", `{"path":"js/app.js","revision":4,"size":22,"text":"var b = 1;\n","from":2,"lines":2}`, b.do("read_file", `{"path":"js/app.js","from":2}`))
	b.do("revert", `{"revision":1}`)
	same(t, "reverted", "let a = 1;\nlet b = 1;\n", b.read("/js/app.js"))
	if got := b.do("list_files", `{}`); !strings.Contains(got, `"revision":5`) || !strings.Contains(got, `"by":"agent","what":"Went back to revision 1"`) || !strings.Contains(got, `{"path":"dot.png","size":4}`) {
		t.Errorf("list_files: %s", got)
	}
	if got := b.do("export", `{}`); !strings.Contains(got, `"url":"ahp-canvas-content:/p/.page/export.zip?revision=5","name":"App.zip"`) {
		t.Errorf("export: %s", got)
	}
	archive := b.read("/.page/export.zip?revision=5")
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil || len(z.File) != 3 || z.File[2].Name != "js/app.js" {
		t.Errorf("the archive has %v, %v", z, err)
	}
	again := b.Open("page", "p", ahp.Value(`{"html":"<h1>New</h1>"}`))
	same(t, "opened again", "Revision 6", again.Status)
	if got := b.read("/"); !strings.HasSuffix(got, "<h1>New</h1>") || !strings.HasPrefix(got, "<!doctype html>") {
		t.Errorf("a fragment is served as %s", got)
	}
	if got := b.read("/js/app.js"); got == "let a = 1;\nlet b = 1;\n" {
		t.Error("another input kept old files")
	}
}

func TestRefused(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.Options{})
	b.Open("page", "p", ahp.Value(`{"html":"<p>a</p>\n<p>a</p>\n\n  <b>x</b>\n"}`))
	b.refused("edit_file", `{"path":"index.html","edits":[{"old":"<b>","new":"<i>"},{"old":"<p>a</p>","new":""}]}`, page.CodeEditAmbiguous, "edit 2 of \"index.html\": old occurs 2 times, in lines 1 and 2;")
	b.refused("edit_file", `{"path":"index.html","edits":[{"old":"<b> x</b>","new":""}]}`, page.CodeEditNotFound, "does not occur")
	b.refused("edit_file", `{"path":"index.html","edits":[{"old":"<b>x</b>\n</p>","new":""}]}`, page.CodeEditNotFound, "resembles line 4")
	b.refused("edit_file", `{"path":"app.js","edits":[{"old":"a","new":""}]}`, page.CodeNoFile, "it has index.html")
	b.refused("write_files", `{"delete":["index.html"]}`, page.CodeInvalid, "no index.html")
	b.refused("write_files", `{"delete":["no.txt"]}`, page.CodeNoFile, "no.txt")
	for _, path := range []string{"../x", "a//b", "a/./b", `a\\b`, ".page/page.js", ".ahp/canvas.js", "", "a/", "a\\u0001", strings.Repeat("x", 201)} {
		b.refused("write_files", `{"files":{"`+path+`":"x"}}`, page.CodeInvalid, "not allowed")
	}
	b.refused("write_files", `{"files":{"index.html/x":"x"}}`, page.CodeInvalid, "a file and a folder")
	b.refused("write_files", `{"files":{"x":{"base64":"!"}}}`, page.CodeInvalid, "base64")
	b.refused("write_files", `{"files":{"x":"`+strings.Repeat("y", 241<<10)+`"}}`, page.CodeTooLarge, "several calls of write_files")
	b.refused("revert", `{"revision":7}`, page.CodeNoRevision, "1 to 1")
	b.refused("read_file", `{"path":"x"}`, page.CodeNoFile, "index.html")
	b.refused("nothing", `{}`, canvas.CodeNoHandler, "write_files, edit_file")
	if got := b.do("list_files", `{}`); !strings.Contains(got, `"revision":1`) {
		t.Errorf("a refused change made a revision: %s", got)
	}
}

// TestLarge: files larger than a call come in parts, and are shown together; the limits of
// an instance hold.
func TestLarge(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.Options{})
	b.Open("page", "p", nil)
	if got := b.read("/"); !strings.Contains(got, "Nothing here yet") {
		t.Errorf("an empty page shows %s", got)
	}
	part := strings.Repeat("x", 200<<10)
	b.do("write_files", `{"files":{"index.html":"<p>big","big.js":"`+part+`"},"more":true}`)
	for range 9 {
		b.do("write_files", `{"files":{"big.js":{"text":"`+part+`","append":true}},"more":true}`)
	}
	if got := b.read("/"); !strings.Contains(got, "Nothing here yet") {
		t.Error("waiting files are shown")
	}
	if got, want := b.do("write_files", `{"files":{"big.js":{"base64":"`+base64.StdEncoding.EncodeToString([]byte("end"))+`","append":true}}}`), fmt.Sprintf(`{"revision":1,"files":2,"bytes":%d}`, 10*len(part)+3+6); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := b.read("/big.js"); len(got) != 10*len(part)+3 || !strings.HasSuffix(got, "xend") {
		t.Errorf("the file has %d bytes", len(got))
	}
	b.refused("write_files", `{"files":{"big.js":{"text":"`+part+`","append":true}}}`, page.CodeTooLarge, "a file can have at most")
	many := map[string]string{}
	for n := range 199 {
		many[fmt.Sprintf("f%d", n)] = ""
	}
	b.refused("write_files", string(ahp.MustMarshal(map[string]any{"files": many})), page.CodeTooLarge, "201 files")
	delete(many, "f0")
	b.do("write_files", string(ahp.MustMarshal(map[string]any{"files": many})))
	if got := b.do("read_file", `{"path":"big.js"}`); !strings.Contains(got, `"cut":true`) {
		t.Errorf("a long line: %.100s", got)
	}
}

// TestRevisions: the last 50 are kept, and what no revision has is removed from the disk.
func TestRevisions(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir, engine.Options{})
	b.Open("page", "p", ahp.Value(`{"html":"0"}`))
	for n := range 60 {
		b.do("edit_file", fmt.Sprintf(`{"path":"index.html","edits":[{"old":"%d","new":"%d"}]}`, n, n+1))
	}
	b.refused("revert", `{"revision":11}`, page.CodeNoRevision, "12 to 61")
	b.do("revert", `{"revision":61}`) // the current one: no revision
	if got := blobsIn(t, dir); len(got) != 50 {
		t.Errorf("%d contents on the disk, want 50", len(got))
	}
	b.do("revert", `{"revision":12}`)
	if got := b.do("read_file", `{"path":"index.html"}`); !strings.Contains(got, `"revision":62,"size":2,"text":"11"`) {
		t.Errorf("after going back: %s", got)
	}
}

func blobsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if filepath.Base(name) != "owner.json" {
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

// TestRestart: a restart of the host loses nothing. What a killed process left
// behind and what belongs to closed canvases is removed.
func TestRestart(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "store")
	run := 0
	start := func() (*bench, func()) {
		store, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run++
		n, mine := 0, run
		b := newBench(t, dir, engine.Options{Store: store, NewID: func() string { n++; return fmt.Sprintf("run%d-%d", mine, n) }})
		return b, func() {
			if err := b.Canvases.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.provider.Close()
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, stop := start()
	files := map[string]string{"index.html": "<title>Kept</title>"}
	for n := range 60 { // a list of files too long to be saved with the revision
		files[fmt.Sprintf("folder/file-%d.txt", n)] = fmt.Sprint(n)
	}
	b.Open("page", "p", ahp.MustMarshal(map[string]any{"files": files}))
	b.do("write_files", `{"files":{"x":"1"}}`)
	b.Open("page", "gone", ahp.Value(`{"html":"<p>gone"}`))
	stop()
	leave := filepath.Join(dir, "left")
	if err := os.MkdirAll(leave, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(leave, "owner.json"), filepath.Join(folderOf(t, dir, `"p"`), durable.Temporary+"123"), filepath.Join(folderOf(t, dir, `"p"`), strings.Repeat("a", 64))} {
		if err := os.WriteFile(name, []byte(`{"session":"ahp-session:/test","instanceId":"left"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := len(blobsIn(t, dir))
	b, stop = start()
	waitReady(t, b, 2)
	if err := b.provider.Collect(); err != nil {
		t.Fatal(err)
	}
	same(t, "title", "Kept", *b.SessionState().OpenCanvases[0].Title)
	same(t, "content", "59", b.read("/folder/file-59.txt"))
	if got := b.do("list_files", `{}`); !strings.Contains(got, `"revision":2`) {
		t.Errorf("after the restart: %s", got)
	}
	b.do("revert", `{"revision":1}`)
	if after := len(blobsIn(t, dir)); after != before-2 {
		t.Errorf("%d contents, want %d: the orphans are still there, or more than them is gone", after, before-2)
	}
	if _, err := os.Stat(leave); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a canvas that does not exist is still there: %v", err)
	}
	if err := b.Canvases.Close(t.Context(), canvastest.Session, "gone"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the folder of the closed canvas is removed", func() bool { return len(folders(t, dir)) == 1 })
	stop()
}

func folders(t *testing.T, dir string) (all []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func folderOf(t *testing.T, dir, instance string) string {
	t.Helper()
	for _, f := range folders(t, dir) {
		raw, err := os.ReadFile(filepath.Join(f, "owner.json"))
		if err == nil && bytes.Contains(raw, []byte(instance)) {
			return f
		}
	}
	t.Fatalf("no folder of %s", instance)
	return ""
}

// waitReady waits until canvases were opened again.
func waitReady(t *testing.T, b *bench, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d canvases are ready", n), func() bool {
		ready := 0
		for _, o := range b.SessionState().OpenCanvases {
			if o.Availability == "ready" {
				ready++
			}
		}
		return ready == n
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never true: %s", what)
		}
	}
}

// TestViews: all pages hear of a change; the shared state has one order; a person goes
// back, and the agent receives
// that as an event.
func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", engine.Options{})
		o := b.Open("page", "p", ahp.Value(`{"html":"one"}`))
		one, two := b.Connect("one"), b.Connect("two")
		one.Subscribe(o.Channel)
		two.Subscribe(o.Channel)
		heard := func(v *canvastest.View, want ...string) {
			t.Helper()
			synctest.Wait()
			got := strings.Join(v.Brief(), "\n")
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("a View has no %s:\n%s", w, got)
				}
			}
		}
		one.Say(o.Channel, `{"x-ahp-page":"hello"}`)
		heard(one, `"payload":{"x-ahp-page":"welcome","revision":1,"tools":true}`, `"payload":{"x-ahp-page":"ready"}`)
		one.Say(o.Channel, `{"x-ahp-page":"set","ref":1,"values":{"todos":["Milk"],"n":1}}`)
		heard(one, `{"x-ahp-page":"done","ref":1}`)
		heard(two, `{"x-ahp-page":"state","values":{"n":1,"todos":["Milk"]}}`)
		two.Say(o.Channel, `{"x-ahp-page":"set","ref":2,"values":{"n":2},"delete":["todos"]}`)
		heard(one, `{"x-ahp-page":"state","values":{"n":2},"delete":["todos"]}`)
		two.Say(o.Channel, `{"x-ahp-page":"set","ref":3,"values":{"n":"`+strings.Repeat("x", 65_000)+`"}}`)
		heard(two, `{"x-ahp-page":"done","ref":3}`)
		two.Say(o.Channel, `{"x-ahp-page":"set","ref":4,"values":{"m":"`+strings.Repeat("x", 1000)+`"}}`)
		heard(two, `{"x-ahp-page":"refused","ref":4,"message":"the shared state would have`)
		if got := b.do("read_file", `{"path":".page/state.json"}`); !strings.Contains(got, `"size":65`) {
			t.Errorf("state.json: %.100s", got)
		}
		b.do("edit_file", `{"path":"index.html","edits":[{"old":"one","new":"two"}]}`)
		heard(one, `{"x-ahp-page":"changed","revision":2,"by":"agent","what":"Edited index.html"}`)
		one.Say(o.Channel, `{"x-ahp-page":"load"}`)
		heard(one, `{"x-ahp":"view/1","type":"reload"}`)
		one.Say(o.Channel, `{"x-ahp-page":"history","ref":5}`)
		heard(one, `{"x-ahp-page":"history","ref":5,"revision":2,"revisions":[{"revision":2,`)
		one.Say(o.Channel, `{"x-ahp-page":"revert","ref":6,"revision":1}`)
		heard(one, `{"x-ahp-page":"changed","revision":3,"by":"person","what":"Went back to revision 1"}`, `{"x-ahp-page":"done","ref":6}`)
		one.Say(o.Channel, `{"x-ahp-page":"blocked","url":"https://cdn.example/x.js"}`)
		one.Say(o.Channel, `{"x-ahp-page":"blocked","url":"https://cdn.example/x.js"}`)
		one.Say(o.Channel, `{"x-ahp-page":"blocked","url":"javascript:x"}`)
		one.Say(o.Channel, `{"added":"Milk"}`)
		synctest.Wait()
		want := []string{
			`{"type":"page.reverted","to":1,"revision":3,"by":"person"}`,
			`{"type":"page.blocked","url":"https://cdn.example/x.js","revision":3,"text":"https://cdn.example/x.js was blocked: a canvas reaches only its own files; write the file into the canvas"}`,
			`{"message":{"added":"Milk"}}`,
		}
		if diff := cmp.Diff(want, b.events()); diff != "" {
			t.Errorf("events (-want +got)\n%s", diff)
		}
		reader := b.Connect("reader")
		reader.Sub.Role = access.Read
		reader.Subscribe(o.Channel)
		reader.Say(o.Channel, `{"x-ahp-page":"hello"}`)
		heard(reader, `{"x-ahp-page":"welcome","revision":3,"readOnly":true}`, `{"x-ahp-page":"ready"}`)
		reader.Say(o.Channel, `{"x-ahp-page":"revert","ref":1,"revision":2}`)
		b.do("write_files", `{"files":{"c":"d"}}`)
		heard(reader, `"revision":4,"by":"agent"`, `{"x-ahp":"view/1","type":"reload"}`)
		// A page that does not answer a change is loaded again; one that asks its person is not.
		one.Say(o.Channel, `{"x-ahp-page":"hello"}`)
		two.Say(o.Channel, `{"x-ahp-page":"hello"}`)
		synctest.Wait()
		one.Brief()
		two.Brief()
		b.do("write_files", `{"files":{"a":"b"}}`)
		two.Say(o.Channel, `{"x-ahp-page":"asking"}`)
		<-time.After(4 * time.Second)
		heard(one, `{"x-ahp":"view/1","type":"reload"}`)
		synctest.Wait()
		if got := strings.Join(two.Brief(), "\n"); strings.Contains(got, "reload") {
			t.Errorf("a page with typed text was loaded again: %s", got)
		}
		b.refused("call", `{"name":"add"}`, page.CodeNoActions, "onAction(\"add\"")
	})
}
