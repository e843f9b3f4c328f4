package bridgecanvas_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
)

// simpleForm returns the files of the simple form: upstream's actions.json, unmodified.
func simpleForm(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, path := range map[string]string{"actions.json": "../testdata/upstream/simple-form.actions.json", "index.html": "testdata/simple-form/index.html"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	return files
}

// actions returns a small actions.json with these members beside protocol and version.
func actions(members string) string {
	return `{"protocol":"actions.json","version":1,"surface":{"surface_id":"small","name":"Small"},` + members + `}`
}

// small are the files of a folder with tools of different kinds.
func small() map[string]string {
	return map[string]string{"index.html": `<!doctype html><title>Small</title><p id="p">x`, "actions.json": actions(`
		"tools":[
			{"name":"a.say","input_schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]},"x_actions":{"handler":"app.say","result_schema":{"type":"object","required":["ok"]}}},
			{"name":"a.quick","x_actions":{"handler":"app.quick","timeout_ms":2000}},
			{"name":"a.long","x_actions":{"handler":"app.long","timeout_ms":120000}},
			{"name":"a.longest","x_actions":{"handler":"app.long","timeout_ms":600000}},
			{"name":"debug.eval","x_actions":{"handler":"app.say"}},
			{"name":"a.camera","requires":["camera"],"input_schema":{"type":"object","required":["lens"]},"x_actions":{"handler":"app.say"}},
			{"name":"a.steps","x_actions":{"execution":{"steps":[{"id":"one","type":"click"}]}}}],
		"primitive_dictionary":{"host":"page","primitives":[{"name":"camera","support":"unsupported","reason":"none"}]},
		"signals":[{"name":"a.moved","event":"app:moved","ingestion":"enabled","payload":{"type":"object","required":["n"]}},{"name":"a.off","event":"app:off","ingestion":"disabled"}]`)}
}

func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "contact")
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// replace replaces a file as editors do.
func replace(t testing.TB, dir, name, text string) {
	t.Helper()
	temp := filepath.Join(dir, ".temp")
	if err := errors.Join(os.WriteFile(temp, []byte(text), 0o644), os.Rename(temp, filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

// bench is an open canvas of a folder, with Views that are no browsers.
type bench struct {
	*canvastest.Host
	t       *testing.T
	dir     string
	folder  *bridgecanvas.Folder
	channel string
}

func newBench(t *testing.T, files map[string]string, o bridgecanvas.FolderOptions) *bench {
	t.Helper()
	n := 0
	if o.NewID == nil {
		o.NewID = func() string { n++; return fmt.Sprint("call-", n) }
	}
	b := &bench{Host: canvastest.New(t, engine.Options{}), t: t, dir: write(t, files)}
	var err error
	if b.folder, err = bridgecanvas.OpenFolder(b.dir, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.folder.Close(); err != nil {
			t.Error(err)
		}
	})
	b.folder.Watch(b.Register(b.folder.Extension(), b.folder, b.folder.Declarations()...))
	b.channel = b.Open(b.folder.ID(), "one", nil).Channel
	return b
}

// in runs a test in a bubble.
func in(t *testing.T, run func(t *testing.T)) { synctest.Test(t, run) }

// page connects a View whose runtime has the id of the View.
func (b *bench) page(name string) *canvastest.View {
	b.t.Helper()
	v := b.Connect(name)
	v.Subscribe(b.channel)
	b.item(v, `{"type":"runtime_ready","runtime_id":"`+name+`","url":"http://canvas/index.html"}`)
	b.say(v, `{"x-ahp":"view/1","type":"hello"}`)
	v.Take()
	return v
}

func (b *bench) say(v *canvastest.View, payload string) {
	v.Say(b.channel, payload)
	synctest.Wait()
}

func (b *bench) item(v *canvastest.View, item string) {
	b.say(v, `{"actions":"item","item":`+item+`}`)
}

// answer answers the last call that a View received with an item, in which ID is its call's
// id.
func (b *bench) answer(v *canvastest.View, item string) {
	b.t.Helper()
	view, call := b.asked(v)
	if view == "" {
		b.t.Fatal("the page was not asked")
	}
	b.say(v, `{"x-ahp":"view/1","type":"result","id":"`+view+`","value":`+strings.ReplaceAll(item, "ID", call)+`}`)
}

// asked returns the ids of the call that a View received, in view/1 and in the protocol.
func (b *bench) asked(v *canvastest.View) (view, call string) {
	b.t.Helper()
	for _, e := range v.Take() {
		var a struct {
			Payload struct {
				Type  string `json:"type"`
				ID    string `json:"id"`
				Input struct {
					Item struct {
						CallID string `json:"call_id"`
					} `json:"item"`
				} `json:"input"`
			} `json:"payload"`
		}
		if ahp.Unmarshal(e.Action, &a) == nil && a.Payload.Type == "invoke" {
			view, call = a.Payload.ID, a.Payload.Input.Item.CallID
		}
	}
	return view, call
}

// outcome is how an invocation ended.
type outcome struct {
	value, code, message, details string
	after                         time.Duration
}

func (b *bench) invoke(action, input string) <-chan outcome {
	begun, ended := time.Now(), make(chan outcome, 1)
	go func() {
		v, err := b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: action, Input: ahp.Value(input)})
		o := outcome{value: string(v), after: time.Since(begun)}
		if e, ok := errors.AsType[*canvas.Error](err); ok {
			o.code, o.message, o.details = e.Code, e.Message, string(e.Details)
		} else if err != nil {
			o.code = err.Error()
		}
		ended <- o
	}()
	synctest.Wait()
	return ended
}

// code is invoke for a call that ends at once.
func (b *bench) code(action, input string) outcome {
	b.t.Helper()
	select {
	case o := <-b.invoke(action, input):
		return o
	default:
		b.t.Fatalf("%s still waits", action)
		return outcome{}
	}
}

// wantError checks the code of an error, and that its details contain texts.
func wantError(t *testing.T, o outcome, code string, details ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("the call ended with %+v, want %s", o, code)
		return
	}
	for _, text := range details {
		if !strings.Contains(o.details, text) {
			t.Errorf("%s: the details are %s, want %s", code, o.details, text)
		}
	}
}

// events returns the events of the session, as JSON.
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

// status returns the canvas's status.
func (b *bench) status() string {
	if s := b.State(b.channel).Status; s != nil {
		return *s
	}
	return ""
}

// TestFolderCall: a tool is called by an item, and its value and errors reach the agent
// with the protocol's codes (rules 18 to 20, 26 and 29).
func TestFolderCall(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		got := b.invoke("a.say", `{"n":1}`)
		e := v.Take()
		if len(e) != 1 || !strings.Contains(string(e[0].Action), `"action":"actions.call","input":{"item":{"type":"action_call","call_id":"call-1","name":"a.say","arguments":{"n":1},"timeout_ms":29500},"tool":{"handler":"app.say"}}`) {
			t.Fatalf("the page received %v", e)
		}
		var a struct {
			Payload struct {
				ID string `json:"id"`
			} `json:"payload"`
		}
		if err := ahp.Unmarshal(e[0].Action, &a); err != nil {
			t.Fatal(err)
		}
		b.say(v, `{"x-ahp":"view/1","type":"result","id":"`+a.Payload.ID+`","value":{"type":"action_call_output","call_id":"call-1","runtime_id":"page-1","output":{"ok":true,"n":2}}}`)
		if o := <-got; o.value != `{"ok":true,"n":2}` {
			t.Errorf("%+v", o)
		}
		for _, c := range []struct{ answer, code, detail string }{
			{`{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":{"ok":false,"error":{"code":"own_code","message":"m","hint":"h"}}}`, "own_code", `"hint":"h"`},
			{`{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":{"ok":false}}`, "handler_failed", `"runtime_id":"page-1"`},
			{`{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":{}}`, "invalid_result", `"rule":"required"`},
			{`{"type":"action_error","call_id":"ID","runtime_id":"page-1","error":{"code":"target_not_found","message":"m","evidence":{"selector":"#x"}}}`, "target_not_found", `"selector":"#x"`},
			{`{"type":"action_error","call_id":"ID","runtime_id":"page-1","error":{"message":"no code"}}`, "handler_failed", ""},
			{`{"type":"action_call_output","call_id":"other","runtime_id":"page-1","output":{"ok":true}}`, "handler_failed", ""},
			{`{"type":"action_call_output","call_id":"ID","runtime_id":"page-2","output":{"ok":true}}`, "handler_failed", ""},
			{`"text"`, "handler_failed", ""},
		} {
			got := b.invoke("a.say", `{"n":1}`)
			b.answer(v, c.answer)
			wantError(t, <-got, c.code, c.detail, `"call_id":"call-`)
		}
	})
}

// TestFolderRefuses: what a page must not hear of is refused before it is asked, in the
// order of rule 18, and with the protocol's codes.
func TestFolderRefuses(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		wantError(t, b.code("a.say", `{}`), "invalid_input", `"tool":"a.say"`, `"path":""`, `"rule":"required"`, `"next_step"`)
		wantError(t, b.code("a.say", `{"n":"x"}`), "invalid_input", `"path":"/n"`, `"rule":"type"`)
		wantError(t, b.code("debug.eval", `{}`), "permission_denied", `"policy":"scripts"`)
		wantError(t, b.code("a.camera", `{}`), "capability_unavailable", `"capability":"camera"`, `"host":"page"`, `"reason":"none"`)
		wantError(t, b.code("a.say", `{"n":1,"text":"`+strings.Repeat("x", 62<<10)+`"}`), "invalid_input", `"rule":"maxLength"`)
		wantError(t, b.code("a.none", `{}`), canvas.CodeNoHandler)
		if view, _ := b.asked(v); view != "" {
			t.Error("the page was asked")
		}
	})
}

// TestFolderScripts: tools that run scripts are called if the folder's owner allows them.
func TestFolderScripts(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{Scripts: true})
		v := b.page("page-1")
		got := b.invoke("debug.eval", `{}`)
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":1}`)
		if o := <-got; o.value != "1" {
			t.Errorf("%+v", o)
		}
	})
}

// TestFolderDeadlines: the protocol's codes come half a second before the host's deadline,
// with the elapsed time and the step.
func TestFolderDeadlines(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		o := <-b.invoke("a.say", `{"n":1}`)
		wantError(t, o, "runtime_not_ready", `"elapsed_ms":29500`, `"call_id":"call-1"`)
		if o.after != 29500*time.Millisecond {
			t.Errorf("it took %v", o.after)
		}
		v := b.page("page-1")
		got := b.invoke("a.say", `{"n":1}`)
		_, call := b.asked(v)
		b.item(v, `{"type":"action_progress","call_id":"`+call+`","runtime_id":"page-1","last_entered_content_phase":"typing"}`)
		o = <-got
		wantError(t, o, "handler_timeout", `"elapsed_ms":29500`, `"timeout_ms":29500`, `"step":"typing"`)
		if o.after != 29500*time.Millisecond {
			t.Errorf("it took %v", o.after)
		}
		o = <-b.invoke("a.quick", `{}`)
		wantError(t, o, "handler_timeout", `"timeout_ms":2000`)
		if o.after > 2010*time.Millisecond || o.after < 1990*time.Millisecond {
			t.Errorf("it took %v", o.after)
		}
		got = b.invoke("a.say", `{"n":1}`)
		time.Sleep(3 * time.Second)
		v.Leave()
		wantError(t, <-got, "transport_failed", `"elapsed_ms":3000`)
	})
}

// TestFolderLong: a call that takes longer than the host waits answers that it is pending,
// and its result is an event.
func TestFolderLong(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		got := b.invoke("a.long", `{}`)
		o := <-got
		if o.value != `{"pending":true,"call_id":"call-1"}` || o.after != 25*time.Second {
			t.Fatalf("%+v", o)
		}
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":{"ok":true,"n":7}}`)
		if got := b.events(); len(got) != 1 || got[0] != `{"type":"actions.result","call_id":"call-1","name":"a.long","output":{"ok":true,"n":7}}` {
			t.Errorf("events %s", got)
		}
		// Another one is answered in time, a third one times out, a fourth loses its page.
		got = b.invoke("a.long", `{}`)
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":null}`)
		if o := <-got; o.value != `null` {
			t.Errorf("%+v", o)
		}
		<-b.invoke("a.long", `{}`)
		time.Sleep(100 * time.Second)
		synctest.Wait()
		if got := b.events(); len(got) != 2 || !strings.Contains(got[1], `"code":"handler_timeout"`) || !strings.Contains(got[1], `"timeout_ms":120000`) {
			t.Errorf("events %s", got)
		}
		<-b.invoke("a.long", `{}`)
		v.Leave()
		synctest.Wait()
		if got := b.events(); len(got) != 3 || !strings.Contains(got[2], `"code":"transport_failed"`) {
			t.Errorf("events %s", got)
		}
	})
}

// TestFolderLongGivenUp: an agent that gives up receives no result of its call later.
func TestFolderLongGivenUp(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		v := b.page("page-1")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := b.Canvases.Invoke(ctx, canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "one", ActionName: "a.long"})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		b.answer(v, `{"type":"action_call_output","call_id":"ID","runtime_id":"page-1","output":1}`)
		if got := b.events(); len(got) != 0 {
			t.Errorf("events %s", got)
		}
	})
}

// TestFolderInFlight: at most 16 calls wait for pages.
func TestFolderInFlight(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		b.page("page-1")
		for range 16 {
			if o := <-b.invoke("a.longest", `{}`); !strings.Contains(o.value, "pending") {
				t.Fatalf("%+v", o)
			}
		}
		wantError(t, b.code("a.quick", `{}`), "runtime_not_ready", `"in_flight":16`)
	})
}

// TestFolderReconnects: a View that reconnects is asked who it is before it gets a call, and
// no page takes the id of another.
func TestFolderReconnects(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBench(t, small(), bridgecanvas.FolderOptions{})
		b.page("page-1").Leave()
		synctest.Wait()
		got := b.invoke("a.say", `{"n":1}`)
		v := b.Connect("again")
		v.Subscribe(b.channel)
		b.say(v, `{"x-ahp":"view/1","type":"hello"}`)
		received := v.Brief()
		if len(received) != 3 || !strings.Contains(received[1], `{"actions":"who"}`) || !strings.Contains(received[2], `"type":"invoke"`) {
			t.Fatalf("it received %s", received)
		}
		thief := b.page("page-2")
		b.item(v, `{"type":"runtime_ready","runtime_id":"page-1","url":"http://canvas/"}`)
		b.item(thief, `{"type":"runtime_ready","runtime_id":"page-1","url":"http://canvas/"}`)
		b.item(thief, `{"type":"dom_event","event_id":"e","runtime_id":"page-1","name":"a.moved","payload":{"n":1}}`)
		if all := b.events(); len(all) != 0 {
			t.Errorf("events %s", all)
		}
		b.item(v, `{"type":"dom_event","event_id":"e","runtime_id":"page-1","name":"a.moved","payload":{"n":1}}`)
		if all := b.events(); len(all) != 1 {
			t.Errorf("events %s", all)
		}
		time.Sleep(30 * time.Second)
		wantError(t, <-got, "handler_timeout")
	})
}
