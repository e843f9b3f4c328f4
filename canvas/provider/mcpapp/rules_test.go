package mcpapp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
)

func code(err error) string {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

// TestDeclarations: tools with a UI are canvases, tools without one are actions of each, and
// tools for pages alone are nothing to an agent.
func TestDeclarations(t *testing.T) {
	e := start(t)
	e.add(e.fake("ok"))
	all, err := e.host.Canvases().List(host.DefaultSession)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range all {
		if c.ExtensionID == "fake" {
			var names []string
			for _, a := range c.Actions {
				names = append(names, a.Name)
			}
			got[c.CanvasID] = strings.Join(names, " ")
		}
	}
	want := map[string]string{"show": "app_result app_list_tools app_call_tool act secret_action", "fake": "act secret_action"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("declared %v, want %v", got, want)
	}
}

// TestOpenAnswers: the open is answered with the result for the model, and defaults of the
// schema are filled in.
func TestOpenAnswers(t *testing.T) {
	e := start(t)
	e.add(e.fake("ok"))
	o := e.mustOpen("show", "")
	if got := string(o.Answer); got != `{"content":[{"type":"text","text":"shown {\"what\":\"everything\"}"}]}` {
		t.Errorf("the answer is %s", got)
	}
	if again := e.mustOpen("show", `{"what":"everything"}`); again.Answer != nil || strings.Count(e.called(), "show ") != 1 {
		t.Errorf("an open that changes nothing has the answer %s; the server saw %s", again.Answer, e.called())
	}
	v, err := e.invoke("show", "app_result", "")
	if err != nil || !strings.Contains(v, `"arguments":{"what":"everything"}`) || !strings.Contains(v, "shown") {
		t.Errorf("app_result: %s, %v", v, err)
	}
}

// TestCalledOnce: the tool is called once for an open, and once for each open with another
// input. The end of the server calls nothing.
func TestCalledOnce(t *testing.T) {
	e := start(t)
	e.add(e.fake("ok"))
	e.mustOpen("show", `{"what":"one"}`)
	e.mustOpen("show", `{"what":"one"}`)
	first := e.mustOpen("show", `{"what":"one"}`)
	if n := strings.Count(e.called(), "show "); n != 1 {
		t.Fatalf("%d calls after equal opens", n)
	}
	e.mustOpen("show", `{"what":"two"}`)
	if n := strings.Count(e.called(), "show "); n != 2 {
		t.Fatalf("%d calls after another input", n)
	}
	for range 3 {
		e.kill()
		e.await("the canvas again", func() bool { return e.availability("show") == "ready" && strings.Count(e.log("fake"), " started") > 1 })
	}
	last := e.mustOpen("show", `{"what":"two"}`)
	if n := strings.Count(e.called(), "show "); n != 2 {
		t.Errorf("%d calls after three ends of the server: %s", n, e.called())
	}
	if _, _, body := e.request("show", "GET", "/-/opening", ""); !strings.Contains(body, `shown {\\\"what\\\":\\\"two\\\"}`) && !strings.Contains(body, "two") {
		t.Errorf("the canvas shows %s", body)
	}
	if first.URL == last.URL {
		t.Errorf("the page is not loaded again: %s", last.URL)
	}
}

// kill kills the process of the fake server, and waits until its canvas is stale or open
// again in another one.
func (e *env) kill() {
	e.t.Helper()
	before := e.log("fake")
	at := strings.LastIndex(before, "process ")
	pid, err := strconv.Atoi(strings.Fields(before[at:])[1])
	if err != nil {
		e.t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		e.t.Fatal(err)
	}
	e.await("another process", func() bool { return strings.Count(e.log("fake"), " started") > strings.Count(before, " started") })
}

// TestLateResult: an open is answered without the result of a tool that takes long; the
// result is an event, and the page gets it.
func TestLateResult(t *testing.T) {
	e := start(t, func(o *mcpapp.Options, _ *host.Options) { o.OpenWait = time.Millisecond })
	e.add(e.fake("ok"))
	gate := filepath.Join(t.TempDir(), "go")
	o := e.mustOpen("show", `{"what":"wait:`+filepath.ToSlash(gate)+`"}`)
	if o.Answer != nil || !strings.HasPrefix(o.Status, "Running Title of show") {
		t.Errorf("answer %s, status %q", o.Answer, o.Status)
	}
	if _, _, body := e.request("show", "GET", "/-/opening", ""); strings.Contains(body, `"result"`) {
		t.Errorf("a result before the tool ended: %s", body)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := e.awaitEvent("app.result"); !strings.Contains(got, `"tool":"show"`) || !strings.Contains(got, "shown") {
		t.Errorf("the event is %s", got)
	}
}

// TestActions: tools without a UI are actions; their errors keep their words, and one that
// takes long is answered before its result.
func TestActions(t *testing.T) {
	e := start(t, func(o *mcpapp.Options, _ *host.Options) { o.InvokeWait = time.Second })
	e.add(e.fake("ok"))
	e.mustOpen("show", "")
	e.mustOpen("fake", "")
	for _, instance := range []string{"show", "fake"} {
		if v, err := e.invoke(instance, "act", `{"what":"x"}`); err != nil || !strings.Contains(v, "acted") {
			t.Errorf("%s: %s, %v", instance, v, err)
		}
	}
	if _, err := e.invoke("show", "act", `{"what":"fail"}`); code(err) != "mcp_tool_error" || !strings.Contains(err.Error(), "it cannot act") {
		t.Errorf("a tool that fails: %v", err)
	}
	gate := filepath.Join(t.TempDir(), "go")
	if v, err := e.invoke("show", "act", `{"what":"wait:`+filepath.ToSlash(gate)+`"}`); err != nil || v != `{"pending":true}` {
		t.Errorf("a tool that takes long: %s, %v", v, err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.awaitEvent(`"tool":"act"`)
}

// TestViewCalls: a page calls the tools of its server that are for pages, as listed now.
// Unknown and forbidden ones have one answer, and the server sees nothing of them.
func TestViewCalls(t *testing.T) {
	e := start(t)
	e.add(e.fake("ok"))
	e.mustOpen("show", "")
	before := e.called()
	const unknown = `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"unknown tool"}}`
	for _, name := range []string{"secret_action", "no_such_tool", "open_canvas", "Count", ""} {
		if got := e.rpc("show", `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`); got != unknown {
			t.Errorf("%q: %s", name, got)
		}
	}
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`:                                       `"code":-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`:                 `"code":-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                         `"code":-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":7}}`: `"code":-32602`,
		`[]`:   `"code":-32600`,
		`nope`: `"code":-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`: `"code":-32600`,
	} {
		if got := e.rpc("show", body); !strings.Contains(got, want) {
			t.Errorf("%.80s: %s", body, got)
		}
	}
	if e.called() != before {
		t.Errorf("the server saw a refused call: %s", e.called())
	}
	for _, id := range []string{`0`, `"a"`, `"0"`} {
		got := e.rpc("show", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"count","arguments":{"by":2},"_meta":{"progressToken":1}}}`)
		if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+id+`,"result":`) || !strings.Contains(got, `counted {\"by\":2}`) {
			t.Errorf("id %s: %s", id, got)
		}
	}
	if got := e.rpc("show", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); strings.Contains(got, "secret_action") || !strings.Contains(got, `"count"`) || !strings.Contains(got, "show_for_pages") {
		t.Errorf("tools/list: %s", got)
	}
	if got := e.rpc("show", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"`+fakeURI+`"}}`); !strings.Contains(got, "text/html;profile=mcp-app") {
		t.Errorf("resources/read: %.200s", got)
	}
	if got := e.rpc("show", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"http://169.254.169.254/"}}`); !strings.Contains(got, `"error"`) {
		t.Errorf("another resource: %.200s", got)
	}
	if _, err := e.invoke("show", "act", `{"what":"withdraw"}`); err != nil {
		t.Fatal(err)
	}
	e.await("the tool to be withdrawn", func() bool {
		return e.rpc("show", `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"count","arguments":{}}}`) == unknown
	})
}

// TestPagePolicy: the View's document has a policy without the origins that the operator did not allow,
// and the card names them.
func TestPagePolicy(t *testing.T) {
	e := start(t, func(o *mcpapp.Options, _ *host.Options) {
		o.Allowed = func(server, canvasID string) []string {
			if server != "fake" || canvasID != "show" {
				t.Errorf("the origins of %s %s were asked for", server, canvasID)
			}
			return []string{"https://*.tiles.example", "https://not-declared.example"}
		}
	})
	e.add(e.fake("ok"))
	e.mustOpen("show", "")
	status, header, body := e.request("show", "GET", "/-/view", "")
	policy := header.Get("Content-Security-Policy")
	if status != http.StatusOK || body != strings.TrimSpace(fakePage) || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "https://*.tiles.example") ||
		strings.Contains(policy, "cesium") || strings.Contains(policy, "not-declared") || strings.Contains(policy, "script-src *") {
		t.Errorf("%d, policy %s", status, policy)
	}
	_, _, opening := e.request("show", "GET", "/-/opening", "")
	var o struct {
		Denied []string `json:"denied"`
		Server struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(opening), &o); err != nil || strings.Join(o.Denied, ", ") != "cesium.com, the microphone" || o.Server.Name != "Fake" || o.Server.Version != "1.2" {
		t.Errorf("the opening says %+v, %v", o, err)
	}
	for _, path := range []string{"/x", "/-/", "/-/view/", "/index.html"} {
		if status, _, _ := e.request("show", "GET", path, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// TestBrokenPage: a tool whose page cannot be shown is not called.
func TestBrokenPage(t *testing.T) {
	e := start(t)
	e.add(e.fake("bad page"))
	_, err := e.openCanvas("broken", "")
	if code(err) != canvas.CodeHandlerError || !strings.Contains(err.Error(), `its type is "text/html"`) {
		t.Errorf("%v", err)
	}
	if e.called() != "" {
		t.Errorf("the tool was called: %s", e.called())
	}
}

// TestLargeResult: a result that is too large to save is shown now, and is words after the
// end of the server.
func TestLargeResult(t *testing.T) {
	e := start(t)
	e.add(e.fake("ok"))
	o := e.mustOpen("show", `{"what":"large"}`)
	if len(o.Answer) > 64<<10 || !strings.Contains(string(o.Answer), "the result was too large and is cut") {
		t.Errorf("the answer has %d bytes", len(o.Answer))
	}
	if _, _, body := e.request("show", "GET", "/-/opening", ""); len(body) < 300<<10 {
		t.Errorf("the page gets %d bytes", len(body))
	}
	e.kill()
	e.await("words instead of the result", func() bool {
		_, _, body := e.request("show", "GET", "/-/opening", "")
		return strings.Contains(body, "too large to keep over a restart")
	})
	if n := strings.Count(e.called(), "show "); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestSays: what a page says to the agent is an event of the app's, at a limited rate.
func TestSays(t *testing.T) {
	e := start(t)
	e.add(e.fake("ok"))
	e.mustOpen("show", "")
	say := func(method, params string) string {
		_, _, answer := e.request("show", "POST", "/-/say", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
		return answer
	}
	if got := say("ui/message", `{"role":"user","content":{"type":"text","text":"one block"}}`); !strings.Contains(got, `"result":{}`) {
		t.Errorf("ui/message: %s", got)
	}
	if got := e.awaitEvent("one block"); got != `{"type":"app.message","app":{"name":"Fake","version":"1.2"},"role":"user","content":[{"type":"text","text":"one block"}]}` {
		t.Errorf("the event is %s", got)
	}
	large := strings.Repeat("A", 40<<10)
	say("ui/update-model-context", `{"content":[{"type":"image","mimeType":"image/png","data":"`+large+`"}],"structuredContent":{"n":1}}`)
	if got := e.awaitEvent("app.context"); strings.Contains(got, "AAAA") || !strings.Contains(got, `"bytes":30721`) || !strings.Contains(got, `"structuredContent":{"n":1}`) {
		t.Errorf("the event is %.300s", got)
	}
	for range 9 {
		say("ui/message", `{"content":[]}`)
	}
	if got := say("ui/message", `{"content":[]}`); !strings.Contains(got, `"code":-32000`) {
		t.Errorf("the eleventh message: %s", got)
	}
	if got := say("ui/message", `{"content":7}`); !strings.Contains(got, `"error"`) {
		t.Errorf("malformed content: %s", got)
	}
	if got := say("canvas/closeRequested", `{}`); !strings.Contains(got, `-32601`) {
		t.Errorf("another method: %s", got)
	}
	say("notifications/message", `{"level":"info","data":"words for the log"}`)
	e.await("the log", func() bool { return strings.Contains(e.log("fake"), "words for the log") })
}

// TestNotStarted: a server that does not start is listed with its name, and opening it says
// why, without secrets.
func TestNotStarted(t *testing.T) {
	e := start(t)
	for _, c := range []struct {
		server mcpapp.Server
		want   string
	}{
		{mcpapp.Server{Name: "absent", Command: []string{"no-such-program-of-a-test", "--key=canary-of-the-command"}}, `there is no program "no-such-program-of-a-test" on the PATH`},
		{e.fake("exit"), "cannot read the key …"},
	} {
		g, err := e.runner.Add(c.server)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.WaitStarted(t.Context()); code(err) != canvas.CodeProviderUnavailable || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.server.Name, err)
		}
		_, err = e.openCanvas(c.server.Name, "")
		for code(err) != canvas.CodeProviderUnavailable && t.Context().Err() == nil {
			_, err = e.openCanvas(c.server.Name, "")
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", c.server.Name, err)
		}
	}
}

// TestEnvironment: the host's own variables stay out of a server's environment.
func TestEnvironment(t *testing.T) {
	e := start(t, func(o *mcpapp.Options, _ *host.Options) {
		o.Env = append(os.Environ(), "AHP_CANVAS_TOKEN=canary-of-the-host", "OTHER=passed")
	})
	e.add(e.fake("env"))
	e.await("the environment", func() bool { return strings.Contains(e.log("fake"), "OTHER=passed") })
	if strings.Contains(e.log("fake"), "canary-of-the-host") {
		t.Error("the server has the host's token")
	}
}

// TestHTTP: a server over HTTP gets its header; it is lost when it does not know its session
// any more, and connected again.
func TestHTTP(t *testing.T) {
	e := start(t)
	var reject atomic.Bool
	var unauthorized atomic.Int32
	handlers := atomic.Pointer[http.Handler]{}
	renew := func() {
		s := fakeServer("ok", e.calls)
		var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
		handlers.Store(&h)
	}
	renew()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canary-of-the-header" {
			unauthorized.Add(1)
		}
		if reject.Load() {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		(*handlers.Load()).ServeHTTP(w, r)
	}))
	defer ts.Close()
	defer e.runner.Close() // before the server, which waits for its streams
	e.add(mcpapp.Server{Name: "fake", URL: ts.URL, Header: http.Header{"Authorization": {"Bearer canary-of-the-header"}}})
	e.mustOpen("show", "")
	if got := e.rpc("show", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{}}}`); !strings.Contains(got, "counted") {
		t.Errorf("a call of the page: %s", got)
	}
	renew() // knows no session
	e.await("a new session", func() bool {
		return strings.Contains(e.rpc("show", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{}}}`), "counted")
	})
	if n := strings.Count(e.called(), "show "); n != 1 {
		t.Errorf("%d calls of the tool", n)
	}
	if unauthorized.Load() > 0 {
		t.Errorf("%d requests had no header", unauthorized.Load())
	}
	if strings.Contains(e.log("fake"), "canary") {
		t.Errorf("the header is in the log: %s", e.log("fake"))
	}
}

// TestRedirect: no redirect is followed, so no other origin sees the header.
func TestRedirect(t *testing.T) {
	e := start(t)
	var seen atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer other.Close()
	var asked atomic.Int32
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer ts.Close()
	defer e.runner.Close()
	g, err := e.runner.Add(mcpapp.Server{Name: "moved", URL: ts.URL + "/?key=canary-of-the-url", Header: http.Header{"Authorization": {"Bearer canary-of-the-header"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.WaitStarted(t.Context()); code(err) != canvas.CodeProviderUnavailable || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), ts.URL) {
		t.Errorf("%v", err)
	}
	if asked.Load() == 0 || seen.Load() != 0 {
		t.Errorf("%d requests, %d at the other origin", asked.Load(), seen.Load())
	}
}

// TestServers: names and addresses that nothing can be connected to are refused.
func TestServers(t *testing.T) {
	for _, s := range []mcpapp.Server{
		{Name: "Upper", Command: []string{"x"}}, {Name: "", Command: []string{"x"}}, {Name: "none"}, {Name: "both", Command: []string{"x"}, URL: "https://a.example"},
		{Name: "plain", URL: "http://a.example"}, {Name: "user", URL: "https://u:p@a.example"}, {Name: "file", URL: "file:///etc/passwd"}, {Name: "meta", URL: "http://169.254.169.254/"},
	} {
		if err := s.Check(); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
