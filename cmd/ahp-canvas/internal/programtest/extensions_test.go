package programtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
)

// tinyExtension implements an extension's protocol without the SDK, so that nothing needs
// to be installed. Package extension tests the published SDK.
const tinyExtension = `
import { createServer } from "node:http";
const send = (m) => { const b = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...m })); process.stdout.write("Content-Length: " + b.length + "\r\n\r\n"); process.stdout.write(b); };
const server = createServer((req, res) => res.end("hello from NAME"));
await new Promise((done) => server.listen(0, "127.0.0.1", done));
console.error("NAME is \x1b[31mup\x1b[0m");
let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + length) return;
    const m = JSON.parse(buffer.subarray(end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    if (m.id === 1) send({ id: 2, method: "session.resume", params: { sessionId: process.env.SESSION_ID, canvases: [{ id: "NAME-panel", displayName: "NAME", description: "For tests" }] } });
    if (m.method === "canvas.open") send({ id: m.id, result: { url: "http://127.0.0.1:" + server.address().port + "/", title: "NAME" } });
    if (m.method === "canvas.close") send({ id: m.id, result: null });
  }
});
send({ id: 1, method: "connect", params: {} });
`

// extensionFolder writes an extension into a folder.
func extensionFolder(t *testing.T, parent, name, module string) string {
	t.Helper()
	dir := filepath.Join(parent, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "extension.mjs"), []byte(strings.ReplaceAll(module, "NAME", name)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAHangingExtension checks that the ready line does not wait for an extension that
// never declares anything, and that a note names it.
func TestAHangingExtension(t *testing.T) {
	needNode(t)
	m := newMachine(t)
	dir := extensionFolder(t, t.TempDir(), "hangs", "setInterval(() => {}, 1000);")
	began := time.Now()
	s := m.serve("--state", "memory", "--extension", dir)
	took := time.Since(began)
	s.stop(syscall.SIGTERM)
	if took > 20*time.Second || !strings.Contains(s.errs.String(), `"hangs" is still starting`) {
		t.Errorf("ready after %s: %s", took, s.errs)
	}
}

func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no node")
		}
		t.Skip("there is no node")
	}
}

// lsRow is a line of ls --json, of any type.
type lsRow struct {
	Type, CanvasID, InstanceID, ExtensionID, Availability, Content string
}

func (m *machine) ls() (rows []lsRow) {
	m.t.Helper()
	for line := range strings.Lines(m.do(0, "ls", "--json")) {
		var row lsRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			m.t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestServeExtension(t *testing.T) {
	needNode(t)
	m := newMachine(t)
	parent := t.TempDir()
	many := filepath.Join(parent, "many")
	one := extensionFolder(t, parent, "one", tinyExtension)
	extensionFolder(t, many, "two", tinyExtension)
	extensionFolder(t, many, "bad", "nonsense(")
	s := m.serve("--extension", one, "--extension", many)
	var rows []lsRow
	untilTrue(t, "the canvases of both extensions", func() bool { // they can start after the link is printed
		rows = m.ls()
		has := func(kind, id string) bool {
			return slices.ContainsFunc(rows, func(r lsRow) bool { return r.Type == kind && r.CanvasID == id })
		}
		return has("canvas", "two-panel") && has("open", "one-panel")
	})
	for _, want := range []lsRow{
		{Type: "canvas", CanvasID: "one-panel", ExtensionID: "one"}, {Type: "canvas", CanvasID: "two-panel", ExtensionID: "two"},
		{Type: "open", CanvasID: "one-panel", InstanceID: "one-panel", ExtensionID: "one", Availability: "ready"},
		{Type: "host", Content: "channel"},
	} {
		if !slices.Contains(rows, want) {
			t.Errorf("ls lacks %+v:\n%s", want, m.lastOut)
		}
	}
	m.do(0, "open", "two-panel")
	m.do(1, "open", "bad")
	if !strings.Contains(m.err, "canvas_provider_unavailable") || !strings.Contains(m.err, "SyntaxError") {
		t.Errorf("opening an extension that does not run: %s", m.err)
	}
	if got := m.do(0, "extension", "logs", "one"); !strings.Contains(got, "\none is  [31mup [0m\n") {
		t.Errorf("its log: %q", got)
	}
	if got := m.do(0, "extension", "logs"); !strings.Contains(got, "== bad\n") || !strings.Contains(got, "== two\n") {
		t.Errorf("all logs: %s", got)
	}
	m.do(1, "extension", "logs", "three")
	if !strings.Contains(m.err, "extension_not_found") || !strings.Contains(m.err, "bad, one, two") {
		t.Errorf("an unknown name: %s", m.err)
	}
	untilTrue(t, "a note about the extension that does not run", func() bool { // beside the start
		return strings.Contains(s.errs.String(), "SyntaxError")
	})
	if got := s.stop(syscall.SIGTERM); got != 0 {
		t.Errorf("exit status %d\n%s", got, s.errs)
	}
	if strings.Contains(s.errs.String(), "one is") {
		t.Errorf("output of an extension is in the host's log: %s", s.errs)
	}
	if errs := s.errs.String(); !strings.Contains(errs, `Note: extension "bad" does not run: it ended with exit status 1. Its last output:`) || !strings.Contains(errs, "SyntaxError") {
		t.Errorf("the notes: %s", errs)
	}
	if left, _ := filepath.Glob(filepath.Join(m.run, "ahp-canvas", "*")); len(left) > 0 {
		t.Errorf("left in the runtime folder: %v", left)
	}
}

// TestExtensionAfterRestart checks that canvases of an extension are open again after a
// restart of the host.
func TestExtensionAfterRestart(t *testing.T) {
	needNode(t)
	m := newMachine(t)
	dir := extensionFolder(t, t.TempDir(), "one", tinyExtension)
	first := m.serve("--extension", dir)
	m.eventually("one-panel", "ls") // it can start after the link is printed
	m.do(0, "open", "one-panel", "--instance", "mine")
	first.stop(syscall.SIGTERM)
	m.serve("--extension", dir)
	for range 100 { // the host opens it again in the background
		if slices.Contains(m.ls(), lsRow{Type: "open", CanvasID: "one-panel", InstanceID: "mine", ExtensionID: "one", Availability: "ready"}) {
			return
		}
	}
	t.Errorf("ls:\n%s", m.lastOut)
}

// TestExtensionDiesWithTheHost checks that the process of an extension ends when its host
// is killed.
func TestExtensionDiesWithTheHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills it")
	}
	needNode(t)
	m := newMachine(t)
	s := m.serve("--extension", extensionFolder(t, t.TempDir(), "one", tinyExtension))
	found := regexp.MustCompile(`process (\d+) started`).FindStringSubmatch(m.do(0, "extension", "logs", "one"))
	if found == nil {
		t.Fatalf("the log: %s", m.lastOut)
	}
	pid, _ := strconv.Atoi(found[1])
	if !reach.Alive(pid) {
		t.Fatal("the process does not exist")
	}
	s.stop(syscall.SIGKILL)
	for range 1000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		m.do(1, "ls") // takes a moment
	}
	t.Error("the process outlived its host")
}

func TestServeCanvasURL(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "notes") }))
	defer app.Close()
	for _, content := range []string{reach.ContentChannel, reach.ContentDirect} {
		t.Run(content, func(t *testing.T) {
			m := newMachine(t)
			m.serve("--state", "memory", "--canvas-url", "notes="+app.URL, "--content", content)
			var open []lsRow
			for _, row := range m.ls() {
				if row.Type != "canvas" {
					open = append(open, row)
				}
			}
			want := []lsRow{
				{Type: "open", CanvasID: "notes", InstanceID: "notes", ExtensionID: "notes", Availability: "ready"}, {Type: "host", Content: content},
			}
			if diff := cmp.Diff(want, open); diff != "" {
				t.Error(diff)
			}
			if out := m.do(0, "ls"); !strings.Contains(out, "\nContent: "+content+". ") {
				t.Errorf("ls: %s", out)
			}
		})
	}
}

// TestServeUnreachableCanvasURL checks that the host starts even if a web app is
// unreachable, says so, and opens no other canvas in its place. TestReadmeCommands checks
// that the canvas opens when the app runs.
func TestServeUnreachableCanvasURL(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory", "--canvas-url", "notes=http://127.0.0.1:"+freePort(t)+"/")
	if slices.ContainsFunc(m.ls(), func(r lsRow) bool { return r.Type == "open" }) {
		t.Errorf("a canvas is open:\n%s", m.lastOut)
	}
	s.stop(syscall.SIGTERM) // and what it said has been read
	if !strings.Contains(s.errs.String(), ` yet; the canvas "notes" opens when the app runs`) {
		t.Errorf("the notes: %s", s.errs)
	}
}

func TestWrongExtensionFlags(t *testing.T) {
	m := newMachine(t)
	empty := t.TempDir()
	for _, test := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "channel, listener or direct", []string{"--content", "sideways"}},
		{2, "want a name and a URL", []string{"--canvas-url", "http://127.0.0.1:3000"}},
		{2, "want shared or browser", []string{"--canvas-url", "notes=http://127.0.0.1:3000,cookies=none"}},
		{1, "--canvas-url notes: ", []string{"--canvas-url", "notes=https://example.com"}},
		{1, "already", []string{"--canvas-url", "board=http://127.0.0.1:3000"}},
		{1, "found no extension.mjs", []string{"--extension", empty}},
		{1, "no such file", []string{"--extension", filepath.Join(empty, "absent")}},
	} {
		m.do(test.status, append([]string{"serve", "--state", "memory"}, test.args...)...)
		if !strings.Contains(m.err, test.want) {
			t.Errorf("%v: %s, want %q", test.args, m.err, test.want)
		}
	}
	m.do(1, "extension", "logs")
	if !strings.Contains(m.err, "host_not_found") {
		t.Errorf("without a host: %s", m.err)
	}
}
