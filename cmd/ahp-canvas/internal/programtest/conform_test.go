package programtest

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/conform"
)

// caseLines decodes the output of --json: the cases, and the summary at its end.
func caseLines(t *testing.T, out string) (cases []map[string]any, summary map[string]any) {
	t.Helper()
	for line := range strings.Lines(out) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if s, ok := v["summary"].(map[string]any); ok {
			summary = s
		} else {
			cases = append(cases, v)
		}
	}
	return cases, summary
}

// TestConform checks that a host passes the transcripts, and that each skipped case has a
// reason.
func TestConform(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	cases, sum := caseLines(t, m.do(0, "conform", "--ours", "--json", "--only", "session/,dispatch/,root/,methods/,canvas/"))
	if sum["failed"] != 0.0 || sum["deviates"] != 0.0 || sum["passed"].(float64) < 70 || int(sum["cases"].(float64)) != len(cases) {
		t.Errorf("%v", sum)
	}
	for _, c := range cases {
		if c["status"] == "skipped" && c["reason"] == nil {
			t.Errorf("skipped for no reason: %v", c)
		}
	}
	t.Logf("%v passed, skipped: %v", sum["passed"], sum["skippedFor"])
	// The cases have disposed of their sessions.
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.ViewToken, Subscriptions: []string{"ahp-root://"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if root, ok := c.Root(); !ok || root.ActiveSessions == nil || *root.ActiveSessions != 1 {
		t.Errorf("left behind: %+v", root)
	}

	report := filepath.Join(t.TempDir(), "report.xml")
	out := m.do(0, "conform", s.AHP, "--only", "dispatch/", "--junit", report)
	for _, want := range []string{"AREA", "dispatch", "everything", "SKIPPED", "cases passed"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if data, err := os.ReadFile(report); err != nil || !strings.Contains(string(data), `classname="dispatch"`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestConformErrors(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	wrong := filepath.Join(t.TempDir(), "token")
	failing := filepath.Join(t.TempDir(), "failing.txt")
	for name, text := range map[string]string{wrong: "wrong", failing: "# title: t\n# rule: MUST x 1\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"channel\":\"ahp-root://\"}}\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":true}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		status     int
		args, want string
	}{
		{2, "conform " + s.AHP + " --host memory", "two ways to name the host"},
		{1, "conform --host other", "no running host has the name"},
		{2, "conform http://localhost", "as in ws://"},
		{2, "conform " + s.AHP + " --mcp x --open-cmd y", "give one of them"},
		{2, "conform " + s.AHP + " --without chat", "want one of canvas"},
		{2, "conform " + s.AHP + " --only nothing-like-it", "no case has such a name"},
		{1, "conform " + s.AHP + " --only canvas/close --mcp none", "the reasons above"},
		{1, "conform " + s.AHP + " --token-file " + wrong, "--token-file"},
		{1, "conform " + strings.TrimSuffix(s.AHP, "/ahp") + "/nothing", "hosts of this project have it at /ahp"},
		{1, "conform ws://127.0.0.1:" + freePort(t), "check that a host listens there"},
		{1, "conform " + s.AHP + " --case " + failing, "1 of 1 case failed"},
		{1, "conform " + s.AHP + " --case /nothing", "--case"},
		{1, "check /nothing", "no such file"},
		{2, "check " + failing, "check needs a folder"},
		{1, "check " + m.state, "holds no fixtures"},
		{2, "record --to http://x y", "as in ws://"},
		{1, "record --to " + s.AHP + " " + failing, "already exists"},
		{1, "record --to ws://127.0.0.1:" + freePort(t) + "/ahp x", "no host answers at"},
		{1, "record --to " + s.AHP + "/nothing x", "hosts of this project have it at /ahp"},
		{1, "record --token-file " + wrong + " x", "the host refuses the token"},
	} {
		m.do(tc.status, strings.Fields(tc.args)...)
		if !strings.Contains(m.err, tc.want) {
			t.Errorf("%s: %s", tc.args, m.err)
		}
	}
	m.do(1, "conform", s.AHP, "--case", failing)
	for _, want := range []string{"FAILED  failing  (MUST x 1)", "line 4: /result", "EXPECTED", "≠   result: true", "│   result: null"} {
		if !strings.Contains(m.lastOut, want) {
			t.Errorf("no %q in\n%s", want, m.lastOut)
		}
	}
}

// TestConformInterrupted checks that an interrupted run is not a success.
func TestConformInterrupted(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	cmd := m.command(t.Context(), "conform", s.AHP, "--all", "--json")
	var errs lockedBuffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), `"passed"`) {
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), `"interrupted"`) {
		t.Errorf("%v: %s", err, &errs)
	}
}

// TestConformOpenCommand checks --open-cmd: a command that receives a call and prints its
// result.
func TestConformOpenCommand(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	const command = `cat >/dev/null; test $AHP_TOOL = close_canvas || exit 3; echo '{"code":"canvas_instance_not_found","message":"no"}'; exit 1`
	file := filepath.Join(t.TempDir(), "agent.txt")
	text := "# title: t\n# rule: MUST x 1\n# needs: agent\nagent> close_canvas {\"instanceId\":\"x\"}\nagent<error {\"code\":\"canvas_instance_not_found\",\"message\":\"$*\"}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.do(0, "conform", s.AHP, "--case", file, "--open-cmd", command)
	m.do(1, "conform", s.AHP, "--case", file, "--open-cmd", "echo no")
	if !strings.Contains(m.lastOut, "printed no JSON value") {
		t.Error(m.lastOut)
	}
}

// TestRecord records an exchange and plays the transcript.
func TestRecord(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	file := filepath.Join(t.TempDir(), "exchange.txt")
	cmd := m.command(t.Context(), "record", "--to", s.AHP, "--json", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var first, last conform.RecordLine
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || !strings.HasSuffix(first.Listen, "/ahp") {
		t.Fatalf("first line %s", lines.Bytes())
	}
	c, err := client.Dial(t.Context(), first.Listen, client.Options{Token: s.ViewToken, Subscriptions: []string{s.Session}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(t.Context(), "ahp-root://"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	_ = cmd.Process.Signal(syscall.SIGINT)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &last) != nil || last.File != file || last.Frames < 4 {
		t.Errorf("last line %s", lines.Bytes())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), s.ViewToken) || !strings.Contains(string(data), `"method":"subscribe"`) {
		t.Errorf("%s, %v", data, err)
	}
	m.do(0, "conform", s.AHP, "--case", file)
}
