package bridgecanvas_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
)

// names returns the declared actions.
func (b *bench) names() (names []string) {
	b.t.Helper()
	for _, a := range b.SessionState().Canvases[0].Actions {
		names = append(names, a.Name)
	}
	return names
}

// TestFolderEdited: an edited actions.json is declared again at once, and pages receive it
// without being loaded again. While it is invalid, nothing can be called, and agent and
// person learn why.
func TestFolderEdited(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		if b.status() != "" {
			t.Errorf("the status is %q", b.status())
		}
		replace(t, b.dir, "actions.json", actions(`"tools":[{"name":"a.new","x_actions":{"handler":"app.new"}}],"signals":[{"name":"s","event":"fresh","ingestion":"enabled"}]`))
		time.Sleep(time.Second)
		synctest.Wait()
		if got := b.names(); !slices.Equal(got, []string{"a.new"}) {
			t.Errorf("declared are %s", got)
		}
		if got := fmt.Sprint(v.Take()); !strings.Contains(got, `"actions":"config"`) || !strings.Contains(got, `"event":"fresh"`) || strings.Contains(got, "reload") {
			t.Errorf("the page received %s", got)
		}
		got := b.invoke("a.new", `{}`)
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":1}`)
		if o := <-got; o.value != "1" {
			t.Errorf("%+v", o)
		}

		replace(t, b.dir, "actions.json", "{\n\"protocol\":\"actions.json\",\n\"version\":2,\"tools\":[]}")
		time.Sleep(time.Second)
		synctest.Wait()
		wantError(t, b.code("a.new", `{}`), "runtime_not_ready", `"file":"actions.json"`, `"line":3`, `"path":"/version"`, `"next_step"`)
		if want := "Nothing can be called: actions.json:3: /version: version is 1"; b.status() != want {
			t.Errorf("the status is %q, want %q", b.status(), want)
		}
		if got := b.names(); !slices.Equal(got, []string{"a.new"}) {
			t.Errorf("declared are %s", got)
		}
		if err := os.Remove(filepath.Join(b.dir, "actions.json")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		wantError(t, b.code("a.new", `{}`), "runtime_not_ready")

		replace(t, b.dir, "actions.json", actions(`"tools":[{"name":"a.back","x_actions":{"handler":"app.new"}}]`))
		time.Sleep(time.Second)
		synctest.Wait()
		got = b.invoke("a.back", `{}`)
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":2}`)
		if o := <-got; o.value != "2" || b.status() != "" {
			t.Errorf("%+v; the status is %q", o, b.status())
		}
	})
}

// TestFolderCallKeepsItsManifest: a call is held against the manifest with which it began.
func TestFolderCallKeepsItsManifest(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		got := b.invoke("a.say", `{"n":1}`)
		replace(t, b.dir, "actions.json", actions(`"tools":[{"name":"a.say","x_actions":{"handler":"app.say"}}]`))
		time.Sleep(time.Second)
		synctest.Wait()
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":{}}`)
		wantError(t, <-got, "invalid_result")
		got = b.invoke("a.say", `{}`)
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":{}}`)
		if o := <-got; o.value != "{}" {
			t.Errorf("%+v", o)
		}
	})
}

// TestFolderEvents: only enabled signals with a payload within its schema become events,
// of pages that said who they are; too many are counted (rules 24 and 25).
func TestFolderEvents(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		event := func(rest string) { b.item(v, `{"type":"dom_event","event_id":"e","runtime_id":"page-1",`+rest+`}`) }
		event(`"name":"app:moved","event":"app:moved","payload":{"n":1},"previous_call_id":"call-9","url":"http://canvas/secret?q=1","observed_at":"now"`)
		event(`"name":"a.moved","payload":{}`)                 // not within its schema
		event(`"name":"a.moved"`)                              // no payload
		event(`"name":"a.off","event":"app:off","payload":{}`) // disabled
		event(`"name":"a.other","payload":{"n":1}`)            // not declared
		event(`"name":"a.moved","payload":{"n":1},"runtime_id":"page-2"`)
		b.item(v, `{"type":"dom_event","event_id":"e","runtime_id":"page-2","name":"a.moved","payload":{"n":1}}`)
		b.item(v, `{"type":"dom_event","runtime_id":"page-1","name":"a.moved","payload":{"n":1}}`)
		want := `{"type":"actions.dom_event","runtime_id":"page-1","name":"a.moved","event":"app:moved","payload":{"n":1},"event_id":"e","previous_call_id":"call-9","observed_at":"now"}`
		if got := b.events(); !slices.Equal(got, []string{want}) {
			t.Fatalf("events\n%s, want\n%s", strings.Join(got, "\n"), want)
		}
		time.Sleep(10 * time.Second)
		for range 120 {
			event(`"name":"a.moved","payload":{"n":1}`)
		}
		if n := len(b.events()); n != 1+50 {
			t.Errorf("%d events", n)
		}
		time.Sleep(time.Second)
		for range 120 {
			event(`"name":"a.moved","payload":{"n":1}`)
		}
		if n := len(b.events()); n != 1+50+20 {
			t.Errorf("%d events after a second", n)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := b.events(); got[len(got)-1] != `{"type":"actions.events_dropped","runtime_id":"page-1","count":170}` {
			t.Errorf("the last event is %s", got[len(got)-1])
		}
		// What is no item is the folder's event.
		b.say(v, `{"type":"dom_event"}`)
		if got := b.events(); got[len(got)-1] != `{"message":{"type":"dom_event"}}` {
			t.Errorf("the last event is %s", got[len(got)-1])
		}
	})
}

// TestFolderStatus: the canvas shows the states of the page that takes the calls, and what
// has drifted.
func TestFolderStatus(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		first, second := b.page("page-1"), b.page("page-2")
		b.item(second, `{"type":"runtime_status","runtime_id":"page-2","states":["other"]}`)
		b.item(first, `{"type":"runtime_status","runtime_id":"page-1","states":["ready","open"],"attachments":[{"id":"a","state":"attached"}]}`)
		b.item(second, `{"type":"runtime_status","runtime_id":"page-1","states":["foreign"]}`)
		if b.status() != "ready, open" {
			t.Errorf("the status is %q", b.status())
		}
		b.item(first, `{"type":"runtime_status","runtime_id":"page-1","states":["ready"],"drift":[{"check":"name_there"},{"check":"more"}]}`)
		if b.status() != "The page differs from actions.json: name_there, more" {
			t.Errorf("the status is %q", b.status())
		}
		first.Leave()
		synctest.Wait()
		if b.status() != "other" {
			t.Errorf("the status is %q", b.status())
		}
	})
}

// TestFolderReads: each HTML document has the runtime, and its validator changes with
// actions.json; other files are unchanged.
func TestFolderReads(t *testing.T) {
	in(t, func(t *testing.T) {
		files := small()
		files["style.css"], files["sub/index.html"] = "p {}", "<p>sub"
		b := newBench(t, files, bridgecanvas.FolderOptions{})
		v := b.Connect("reader")
		v.Subscribe(b.channel)
		read := func(path, etag string) (text, newETag string) {
			t.Helper()
			p := canvas.CanvasReadResourceParams{Channel: b.channel, URI: canvas.ContentURL("one", path)}
			if etag != "" {
				p.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(etag)}
			}
			var r canvas.CanvasReadResourceResult
			raw, err := b.Canvases.Content.CanvasReadResource(t.Context(), v.Sub, p)
			if err == nil {
				err = ahp.Unmarshal(raw, &r)
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			_ = ahp.Unmarshal(r.Meta[canvas.MetaETag], &newETag)
			if len(r.Contents) > 0 && r.Contents[0].Text != nil {
				text = *r.Contents[0].Text
			}
			return text, newETag
		}
		page, etag := read("/", "")
		if !strings.Contains(page, `<script type="module" src="/.actions/runtime.js" data-actions-runtime></script>`) || !strings.Contains(page, `"path":"/index.html"`) || !strings.HasPrefix(page, "<!doctype html>") {
			t.Errorf("the page is %s", page)
		}
		if text, _ := read("/", etag); text != "" {
			t.Error("a page that did not change was read again")
		}
		if text, _ := read("/sub/", ""); !strings.Contains(text, `"path":"/sub/index.html"`) {
			t.Errorf("the page is %s", text)
		}
		if text, _ := read("/style.css", ""); text != "p {}" {
			t.Errorf("the style is %s", text)
		}
		if text, _ := read("/.actions/probe.js", ""); !strings.Contains(text, "export function stateOf") {
			t.Errorf("the module is %s", text)
		}
		replace(t, b.dir, "actions.json", actions(`"tools":[]`))
		time.Sleep(time.Second)
		if text, _ := read("/", etag); !strings.Contains(text, `"event":"actions-json:overlay-closed"`) {
			t.Errorf("the page has the old actions.json, or no signals of the overlay: %s", text)
		}
		replace(t, b.dir, "actions.json", actions(`"tools":[],"signals":[]`))
		time.Sleep(time.Second)
		if text, _ := read("/", ""); !strings.Contains(text, `"signals":[]`) {
			t.Errorf("the page has signals: %s", text)
		}
	})
}
