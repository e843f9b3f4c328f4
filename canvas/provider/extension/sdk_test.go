package extension

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// installed returns a copy of testdata with its dependencies from npm.
func installed(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("installs packages from npm")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			absent(t, program+" is not installed")
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The optional dependencies are the SDK's runtimes, which these tests do not use.
	cmd := exec.CommandContext(ctx, "npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		absent(t, "npm ci: "+err.Error()+"\n"+string(out))
	}
	return dir
}

// absent skips a test that misses a dependency, or fails it in CI.
func absent(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// realNode runs extensions with Node.js, and their pages with canvas/provider/loopback.
func realNode(o *Options) {
	o.Node, o.Env, o.newPage, o.checkOwner = "", nil, nil, nil
}

// start adds the extension in a folder, and fails the test if it does not start.
func (b *bench) start(dir ...string) *Extension {
	b.t.Helper()
	x, err := b.startIn(filepath.Join(dir...))
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

func (b *bench) startIn(dir string) (*Extension, error) {
	b.t.Helper()
	found, err := Find(dir)
	if err != nil || len(found) != 1 {
		b.t.Fatalf("%s: %v, %v", dir, found, err)
	}
	x, err := b.runner.Add(found[0])
	if err != nil {
		b.t.Fatal(err)
	}
	return x, x.WaitStarted(b.t.Context())
}

// TestWithSDK runs extensions that use the unmodified published SDK.
func TestWithSDK(t *testing.T) {
	dir := installed(t)
	for name, test := range map[string]func(*testing.T, string){
		"counter": useCounter, "counter sends events": counterEvents, "counter restarts": restartCounter,
		"token": useToken, "files": useFiles, "broken": reportBroken, "direct": openDirect,
		"apps from npm": serveNpmApps,
	} {
		t.Run(name, func(t *testing.T) { test(t, dir) })
	}
}

func useCounter(t *testing.T, dir string) {
	b := newBench(t, realNode)
	begun := time.Now()
	b.start(dir, "counter")
	t.Logf("declared after %v", time.Since(begun))
	o := b.Open("counters", "one", ahp.Value(`{"title":"Mine"}`))
	if o.Title != "Mine" || o.Status != "counting" || o.ExtensionID != "counter" || o.URL != "ahp-canvas-content:/one/" {
		t.Fatalf("opened as %+v", o)
	}
	v := b.view(o.Channel)
	if code, body := v.fetch("GET", "/", nil, nil); code != 200 || !strings.Contains(body, "EventSource") {
		t.Fatalf("the page: %d %s", code, body)
	}
	stream := v.send("GET", "/events", nil, nil)
	defer stream.Body.Close()
	events := bufio.NewReader(stream.Body)
	if got := event(t, events); got != `{"title":"Mine","counters":{}}` {
		t.Errorf("first event %s", got)
	}
	code, body := v.fetch("POST", "/api/count", http.Header{"Content-Type": {"application/json"}}, strings.NewReader(`{"name":"cats"}`))
	if code != 200 || body != `{"name":"cats","n":1}` {
		t.Errorf("the POST: %d %s", code, body)
	}
	if got := event(t, events); got != `{"title":"Mine","counters":{"cats":1}}` {
		t.Errorf("the event of the POST %s", got)
	}
	if n, err := b.invoke("one", "count", `{"name":"cats","by":2}`); err != nil || string(n) != `{"n":3}` {
		t.Errorf("the action: %s, %v", n, err)
	}
	if got := event(t, events); got != `{"title":"Mine","counters":{"cats":3}}` {
		t.Errorf("the event of the action %s", got)
	}
	if err := b.Canvases.Close(t.Context(), canvastest.Session, "one"); err != nil {
		t.Error(err)
	}
	if o := b.Open("counters", "one", nil); o.Title != "Counters" {
		t.Errorf("opened again as %+v", o)
	}
}

// event returns the next event of a stream.
func event(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}

func counterEvents(t *testing.T, dir string) {
	b := newBench(t, realNode)
	b.start(dir, "counter")
	o := b.Open("counters", "one", nil)
	v := b.view(o.Channel)
	v.fetch("POST", "/api/count", nil, strings.NewReader(`{"name":"cats"}`))
	var page canvas.EventPage
	eventually(t, "the prompt", func() bool {
		page, _ = b.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		return len(page.Events) >= 2
	})
	for i, want := range []string{`"message":"counters are ready"`, `"prompt":"The user set cats to 1."`} {
		if !strings.Contains(string(page.Events[i].Event), want) {
			t.Errorf("event %d is %s, want %s", i, page.Events[i].Event, want)
		}
	}
	for _, test := range []struct{ action, code, message string }{
		{"reset", "workspace_unavailable", "nothing is ever forgotten"},
		{"break", canvas.CodeHandlerError, "it broke"},
		// This version of the SDK omits the error code.
		{"unset", canvas.CodeHandlerError, "No handler implemented"},
	} {
		_, err := b.invoke("one", test.action, "")
		if code(err) != test.code || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want %s", test.action, err, test.code)
		}
	}
	where, err := b.invoke("one", "where", "")
	var got struct {
		Workspace        string             `json:"workspace"`
		WorkingDirectory string             `json:"workingDirectory"`
		UI               canvasesCapability `json:"ui"`
	}
	if err != nil || ahp.Unmarshal(where, &got) != nil || !got.UI.Canvases || got.WorkingDirectory == "" {
		t.Errorf("where: %s, %v", where, err)
	}
	if info, err := os.Stat(got.Workspace); err != nil || !info.IsDir() {
		t.Errorf("the workspace: %v", err)
	}
	if refused, err := b.invoke("one", "read", ""); err != nil || !strings.Contains(string(refused), `"code":-32601`) {
		t.Errorf("a request that the host does not support: %s, %v", refused, err)
	}
}

func restartCounter(t *testing.T, dir string) {
	b := newBench(t, realNode)
	b.start(dir, "counter")
	o := b.Open("counters", "one", ahp.Value(`{"title":"Mine"}`))
	v := b.Connect("view")
	v.Subscribe(o.Channel)
	begun := time.Now()
	if _, err := b.invoke("one", "crash", ""); code(err) != canvas.CodeProviderUnavailable {
		t.Errorf("the request during the crash: %v", err)
	}
	b.awaitAvailability(v, session.Stale)
	stale := time.Since(begun)
	b.awaitAvailability(v, session.Ready)
	t.Logf("stale after %v, ready again after %v", stale, time.Since(begun))
	if code, _ := b.view(o.Channel).fetch("GET", "/", nil, nil); code != 200 {
		t.Errorf("its page: %d", code)
	}
}

func useToken(t *testing.T, dir string) {
	b := newBench(t, realNode)
	b.start(dir, "token")
	o := b.Open("token", "one", nil)
	path, ok := strings.CutPrefix(o.URL, "ahp-canvas-content:/one")
	if !ok || !strings.HasPrefix(path, "/app/?token=") {
		t.Fatalf("opened at %s", o.URL)
	}
	v := b.view(o.Channel)
	if code, _ := v.fetch("GET", "/app/", nil, nil); code != 403 {
		t.Errorf("without the token: %d", code)
	}
	if code, body := v.fetch("GET", path, nil, nil); code != 200 || !strings.Contains(body, "<title>Token") {
		t.Errorf("with it: %d %s", code, body)
	}
	header := http.Header{"X-Token": {strings.TrimPrefix(path, "/app/?token=")}}
	if code, body := v.fetch("GET", "/app/secret", header, nil); code != 200 || body != `{"secret":1,"cookie":true,"host":true}` {
		t.Errorf("the page's own request: %d %s", code, body)
	}
}

func useFiles(t *testing.T, dir string) {
	b := newBench(t, realNode)
	x := b.start(dir, "files")
	if x.ID() != "example-files" || x.Folder().Name != "Files" {
		t.Errorf("it is %q, %q", x.ID(), x.Folder().Name)
	}
	v := b.view(b.Open("files", "one", nil).Channel)
	if code, body := v.fetch("GET", "/large", nil, nil); code != 200 || len(body) != 2<<20 || body != strings.Repeat("0123456789abcdef", 2<<16) {
		t.Errorf("2 MiB: %d, %d bytes", code, len(body))
	}
	file := bytes.Repeat([]byte("\x00\xffupload\n"), 40<<10)
	sum := sha256.Sum256(file)
	code, body := v.fetch("PUT", "/files/a%20file", nil, bytes.NewReader(file))
	if code != 201 || !strings.Contains(body, hex.EncodeToString(sum[:])) {
		t.Errorf("the upload: %d %s", code, body)
	}
	if code, body := v.fetch("GET", "/files/a%20file", nil, nil); code != 200 || body != string(file) {
		t.Errorf("the file: %d, %d bytes of %d", code, len(body), len(file))
	}
}

// reportBroken checks that a missing dependency and a syntax error are reported with
// Node's error output.
func reportBroken(t *testing.T, dir string) {
	b := newBench(t, func(o *Options) { realNode(o); withoutRestart(o) })
	for name, want := range map[string]string{
		"missing": "Cannot find package 'no-such-package'", "syntax": "SyntaxError: Unexpected token ';'",
	} {
		if _, err := b.startIn(filepath.Join(dir, "broken", name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		_, err := b.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: name, InstanceID: name})
		if code(err) != canvas.CodeProviderUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("opening %s: %v", name, err)
		}
	}
}

func openDirect(t *testing.T, dir string) {
	b := newBench(t, func(o *Options) { realNode(o); o.Direct = true })
	b.start(dir, "counter")
	o := b.Open("counters", "one", nil)
	if !strings.HasPrefix(o.URL, "http://127.0.0.1:") {
		t.Fatalf("opened at %s", o.URL)
	}
	resp, err := http.Get(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("the page: %d", resp.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
}
