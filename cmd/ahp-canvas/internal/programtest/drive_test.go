package programtest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// TestDrive uses a running host from a second terminal.
func TestDrive(t *testing.T) {
	m := newMachine(t)
	s := m.serve()
	if s.PID != s.cmd.Process.Pid || s.Session != "ahp-session:/default" || s.ViewToken == s.AgentToken ||
		!strings.HasSuffix(s.MCP, "/mcp") || !strings.HasPrefix(s.AHP, "ws://") || !strings.Contains(s.Link, s.ViewToken) || strings.Contains(s.Link, s.AgentToken) {
		t.Fatalf("%+v", s.Endpoint)
	}
	if resp, err := http.Get(s.Page); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the page: %v, %v", resp, err)
	}
	if got := m.do(0, "link"); got != s.Link+"\n" {
		t.Errorf("link: %s", got)
	}

	out := m.do(0, "ls")
	for _, want := range []string{"CANVAS", "EXTENSION", "ACTIONS", "board", "OPEN", "ready"} {
		if !strings.Contains(out, want) {
			t.Errorf("ls has no %q:\n%s", want, out)
		}
	}
	types := map[string][]string{}
	for line := range strings.Lines(m.do(0, "ls", "--json")) {
		var row struct{ Type, CanvasID, InstanceID string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		types[row.Type] = append(types[row.Type], row.CanvasID+row.InstanceID)
	}
	if diff := cmp.Diff(map[string][]string{"canvas": {"board", "form", "chart", "page", "a2ui"}, "open": {"boardboard"}}, types); diff != "" {
		t.Error(diff)
	}

	if out := m.do(0, "open", "board", "--instance", "second"); !strings.Contains(out, "second") || !strings.Contains(out, s.Page+"#invite=") || strings.Contains(out, s.ViewToken) {
		t.Errorf("open:\n%s", out)
	}
	var o openResult
	if err := json.Unmarshal([]byte(m.do(0, "open", "board", "--instance", "second", "--json")), &o); err != nil || o.InstanceID != "second" || !invites(s, o.Link) {
		t.Errorf("open --json: %+v, %v", o, err)
	}
	if out := m.do(0, "close", "second"); out != "Closed second.\n" {
		t.Errorf("close: %s", out)
	}
	if out := m.do(0, "open", "board", "--instance", "third", "--json", "--session", s.Session); !strings.Contains(out, "third") {
		t.Errorf("open --session: %s", out)
	}
	if out := m.do(0, "close", "third", "--json"); out != `{"instanceId":"third","closed":true}`+"\n" {
		t.Errorf("close --json: %s", out)
	}
}

// openResult is the part of open_canvas's result that tests read.
type openResult struct{ InstanceID, Link string }

// TestInvoke checks that a result is printed unchanged, with every digit, for people and
// for programs.
func TestInvoke(t *testing.T) {
	m := newMachine(t)
	m.serve("--state", "memory")
	added := m.do(0, "invoke", "board", "add_list", "--input", `{"title":"<Shopping>","cards":[{"title":"Milk"}]}`)
	if !strings.Contains(added, "\n    \"title\": \"<Shopping>\",\n") {
		t.Errorf("not for people: %s", added)
	}
	line := m.do(0, "invoke", "board", "get_board", "--json")
	var board struct {
		Value struct{ Lists []struct{ Title string } }
	}
	if err := json.Unmarshal([]byte(line), &board); err != nil || strings.Count(line, "\n") != 1 || len(board.Value.Lists) != 4 || board.Value.Lists[3].Title != "<Shopping>" {
		t.Errorf("%s, %v", line, err)
	}
	m.do(1, "invoke", "board", "add_card", "--input", `{"list":"To do","title":7}`)
	if !strings.HasPrefix(m.err, "ahp-canvas: canvas_input_invalid: ") || !strings.Contains(m.err, "/input/title") {
		t.Error(m.err)
	}
}

// TestCanvasFolder checks that a folder is offered, and opened instead of the board.
func TestCanvasFolder(t *testing.T) {
	m := newMachine(t)
	m.serve("--canvas", webFolder(t, "mine"), "--state", "memory")
	var open []string
	for line := range strings.Lines(m.do(0, "ls", "--json")) {
		var row struct{ Type, CanvasID, InstanceID string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Type == "open" {
			open = append(open, row.CanvasID+" as "+row.InstanceID)
		}
	}
	if diff := cmp.Diff([]string{"mine as mine"}, open); diff != "" {
		t.Error(diff)
	}
}

// TestCanvasFolderTwice checks that the host refuses two folders with the same id, and
// says how to change one.
func TestCanvasFolderTwice(t *testing.T) {
	m := newMachine(t)
	m.do(1, "serve", "--state", "memory", "--canvas", webFolder(t, "dist"), "--canvas", webFolder(t, "dist"))
	if !strings.Contains(m.err, "another id") || m.lastOut != "" {
		t.Errorf("%s%s", m.lastOut, m.err)
	}
	m.do(1, "serve", "--state", "memory", "--canvas", t.TempDir())
	if !strings.Contains(m.err, "index.html") || m.lastOut != "" {
		t.Errorf("%s%s", m.lastOut, m.err)
	}
	m.do(1, "serve", "--state", "memory", "--open", "nothing")
	if !strings.Contains(m.err, "canvas_not_found") || m.lastOut != "" {
		t.Errorf("%s%s", m.lastOut, m.err)
	}
}

// TestFailures checks that each failure has a code, a cause, a next step and exit status
// 1.
func TestFailures(t *testing.T) {
	m := newMachine(t)
	m.do(1, "ls")
	if want := "ahp-canvas: host_not_found: no host is running\n  Start one with: ahp-canvas serve\n"; m.err != want {
		t.Errorf("without a host: %s", m.err)
	}
	s := m.serve("--state", "memory")
	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		code string
	}{
		{"open nothing", "canvas_not_found"},
		{"open board --instance " + strings.Repeat("x", 129), "canvas_input_invalid"},
		{"open board --extension stranger", "canvas_not_found"},
		{"open board --session ahp-session:/none", "canvas_session_not_found"},
		{"invoke nobody act", "canvas_instance_not_found"},
		{"invoke board no_such_action", "canvas_action_no_handler"},
		{"close nobody", "canvas_instance_not_found"},
		{"ls --session ahp-session:/none", "canvas_session_not_found"},
		{"ls --token-file " + wrong, "host_token_refused"},
		{"ls --host http://127.0.0.1:1", "host_token_refused"},
		{"ls --host http://127.0.0.1:1 --token-file " + wrong, "host_unreachable"},
		{"ls --host " + s.Page + "nothing/here --token-file " + wrong, "host_token_refused"},
	} {
		m.do(1, strings.Fields(tc.args)...)
		if !strings.HasPrefix(m.err, "ahp-canvas: "+tc.code+": ") || strings.Count(m.err, "\n") != 2 || m.lastOut != "" {
			t.Errorf("%s: %s%s", tc.args, m.lastOut, m.err)
		}
		m.do(1, append(strings.Fields(tc.args), "--json")...)
		var e term.ErrorLine
		if err := json.Unmarshal([]byte(m.err), &e); err != nil || e.Code != tc.code || e.Message == "" {
			t.Errorf("%s --json: %s, %v", tc.args, m.err, err)
		}
	}
}

// TestFailuresWithoutACode checks that with --json a failure without a code is one object
// too.
func TestFailuresWithoutACode(t *testing.T) {
	m := newMachine(t)
	for _, args := range []string{"open board --input @absent.json", "ls --token-file absent", "ls --token-file \xff", "serve --state /dev/null/x"} {
		m.do(1, strings.Fields(args)...)
		if !strings.HasPrefix(m.err, "ahp-canvas: ") || strings.Contains(m.err, term.CodeFailed+":") {
			t.Errorf("%s: %s", args, m.err)
		}
		m.do(1, append(strings.Fields(args), "--json")...)
		var e term.ErrorLine
		if err := json.Unmarshal([]byte(m.err), &e); err != nil || e.Code != term.CodeFailed || e.Message == "" {
			t.Errorf("%s --json: %s, %v", args, m.err, err)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	m := newMachine(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"frobnicate", "ls more", "open", "open a b", "invoke a", "close", "serve x", "version x", "ls --nope",
		"open board --input {", "open board --input", "ls --host localhost:80", "ls --token-file " + empty,
		"serve --listen nonsense", "serve --log-level loud",
	} {
		m.do(2, strings.Fields(args)...)
		if !strings.HasPrefix(m.err, "ahp-canvas: ") || !strings.Contains(m.err, "--help") {
			t.Errorf("%s: %s", args, m.err)
		}
	}
}

func TestVersion(t *testing.T) {
	m := newMachine(t)
	if a, b := m.do(0, "version"), m.do(0, "--version"); a != b || !strings.HasPrefix(a, "ahp-canvas ") {
		t.Errorf("%q, %q", a, b)
	}
}

// TestElsewhere checks that --host and --token-file reach a host without an endpoint file
// here.
func TestElsewhere(t *testing.T) {
	there, here := newMachine(t), newMachine(t)
	s := there.serve("--state", "memory")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(s.AgentToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	here.do(0, "ls", "--host", s.Page, "--token-file", file)
	here.env = append(here.env, "AHP_CANVAS_TOKEN="+s.AgentToken)
	here.do(0, "ls", "--host", s.Page)
	here.do(1, "link", "--host", s.Page)
}

func TestInputFromFileAndStdin(t *testing.T) {
	m := newMachine(t)
	m.serve("--state", "memory")
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m.do(0, "open", "board", "--instance", "a", "--input", "@"+file)
	m.doWith(`{}`, 0, "open", "board", "--instance", "b", "--input", "-")
	m.doWith(`{}{}`, 2, "open", "board", "--instance", "c", "--input", "-")
	m.do(1, "open", "board", "--input", "@"+file+".none")
}
