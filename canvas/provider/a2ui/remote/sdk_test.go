package remote_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
)

// sdk is an agent made with the official A2A SDK, as a process.
type sdk struct {
	base  string
	lines *bufio.Scanner
}

// startSDK starts testcases/typescript/a2a.mjs, or skips the test without Node.
func startSDK(t *testing.T, args ...string) *sdk {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "testcases", "typescript")
	_, err := os.Stat(filepath.Join(dir, "node_modules", "a2a-v1"))
	if _, node := exec.LookPath("node"); node != nil || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node, or the packages of testcases/typescript, are missing")
		}
		t.Skip("needs node, and 'npm ci' in testcases/typescript")
	}
	cmd := exec.Command("node", append([]string{"a2a.mjs"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	s := &sdk{lines: bufio.NewScanner(out)}
	s.lines.Buffer(nil, 1<<20)
	s.next(t, &struct {
		Base *string `json:"base,omitzero"`
	}{&s.base})
	return s
}

// next decodes the next line that the agent printed.
func (s *sdk) next(t *testing.T, into any) {
	t.Helper()
	if !s.lines.Scan() {
		t.Fatalf("the agent ended: %v", s.lines.Err())
	}
	if err := ahp.Unmarshal(s.lines.Bytes(), into); err != nil {
		t.Fatalf("%v: %s", err, s.lines.Bytes())
	}
}

// received is what the agent printed about a request.
type received struct {
	Headers  map[string]ahp.Value `json:"headers,omitzero"`
	Received struct {
		Parts     ahp.Value `json:"parts,omitzero"`
		Metadata  ahp.Value `json:"metadata,omitzero"`
		ContextID string    `json:"contextId,omitzero"`
		TaskID    string    `json:"taskId,omitzero"`
	} `json:"received,omitzero"`
	Known bool `json:"known,omitzero"`
}

func (r received) header(name string) string {
	var s string
	_ = ahp.Unmarshal(r.Headers[name], &s)
	return s
}

// request returns what the agent printed about one request.
func (s *sdk) request(t *testing.T) (r received) {
	t.Helper()
	s.next(t, &r)
	s.next(t, &r)
	return r
}

// turn sends a turn and returns the replies.
func turn(t *testing.T, a a2ui.Agent, in a2ui.Turn) (list []a2ui.Reply) {
	t.Helper()
	if err := a.Send(t.Context(), in, func(r a2ui.Reply) { list = append(list, r) }); err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return list
}

// outline returns replies as text: states, texts and keys of messages.
func outline(list []a2ui.Reply) (lines []string) {
	for _, r := range list {
		line := strings.TrimSpace(r.State + " " + r.Text)
		for _, p := range r.Parts {
			for _, key := range []string{"createSurface", "updateComponents", "updateDataModel"} {
				if strings.Contains(string(p), `"`+key+`"`) {
					line += " " + key
				}
			}
		}
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

const action = `{"version":"v0.9","action":{"name":"submit_booking","surfaceId":"booking","sourceComponentId":"send","timestamp":"2026-02-25T10:40:00Z","context":{"name":"Grace"}}}`
const model = `{"version":"v0.9","surfaces":{"booking":{"name":"Grace"}}}`

// TestSDK: an agent of each version of the official SDK draws a form, receives the
// action with its model in the version's own shapes, and confirms.
func TestSDK(t *testing.T) {
	for _, version := range []string{"v0", "v1"} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(version+" "+mode, func(t *testing.T) {
				t.Parallel()
				book(t, version, mode)
			})
		}
	}
}

func book(t *testing.T, version, mode string) {
	s := startSDK(t, version, mode)
	a, err := remote.New(remote.Options{Name: "finder", URL: s.base, Token: "secret-token"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	info, err := a.Check(t.Context())
	want := remote.Info{A2A: map[string]string{"v0": "0.3", "v1": "1.0"}[version], Streaming: mode == "stream", A2UI: true}
	if err != nil || info != want {
		t.Fatalf("card: %+v, %v; want %+v", info, err, want)
	}

	replies := turn(t, a, a2ui.Turn{Text: "find me a table"})
	form := []string{"submitted", "working Looking for tables", "input-required Please fill this in. createSurface updateComponents updateDataModel"}
	if mode == "whole" {
		form = form[2:]
	}
	if diff := cmp.Diff(form, outline(replies)); diff != "" {
		t.Errorf("the form (-want +got)\n%s", diff)
	}
	last := replies[len(replies)-1]
	first := s.request(t)
	caps := string(ahp.MustMarshal(map[string]ahp.Value{"a2uiClientCapabilities": a2ui.Capabilities()}))
	if got := string(first.Received.Metadata); !ahp.Equal(ahp.Value(got), ahp.Value(caps)) {
		t.Errorf("metadata %s, want %s", got, caps)
	}
	checkHeaders(t, version, first)

	replies = turn(t, a, a2ui.Turn{ContextID: last.ContextID, TaskID: last.TaskID, Messages: []ahp.Value{ahp.Value(action)}, Model: ahp.Value(model)})
	if got := strings.Join(outline(replies), "; "); !strings.Contains(got, "updateComponents") || !strings.Contains(got, "completed Done.") {
		t.Errorf("the answer to the action: %s", got)
	}
	second := s.request(t)
	if !second.Known || second.Received.ContextID != last.ContextID || second.Received.TaskID != last.TaskID {
		t.Errorf("the action began another task: %+v", second)
	}
	data := map[string]string{"v0": action, "v1": "[" + action + "]"}[version] // an object in 0.3, a list from 1.0 on
	var parts []struct {
		Data     ahp.Value         `json:"data,omitzero"`
		Metadata map[string]string `json:"metadata,omitzero"`
	}
	if err := ahp.Unmarshal(second.Received.Parts, &parts); err != nil || len(parts) != 1 || !ahp.Equal(parts[0].Data, ahp.Value(data)) || parts[0].Metadata["mimeType"] != a2ui.MIMEv09 {
		t.Errorf("parts %s, want one with %s", second.Received.Parts, data)
	}
	if meta := fmt.Sprintf(`{"a2uiClientCapabilities":%s,"a2uiClientDataModel":%s}`, a2ui.Capabilities(), model); !ahp.Equal(second.Received.Metadata, ahp.Value(meta)) {
		t.Errorf("metadata %s, want %s", second.Received.Metadata, meta)
	}

	if got := outline(turn(t, a, a2ui.Turn{Text: "just talk"})); !cmp.Equal(got, []string{"completed Hello."}) {
		t.Errorf("a message: %q", got)
	}
}

func checkHeaders(t *testing.T, version string, r received) {
	t.Helper()
	want := map[string]string{"x-a2a-extensions": a2ui.ExtensionV09, "content-type": "application/json", "authorization": "Bearer secret-token", "a2a-version": "", "a2a-extensions": ""}
	if version == "v1" {
		want["a2a-version"], want["a2a-extensions"] = "1.0", a2ui.ExtensionV09
	}
	for name, value := range want {
		if got := r.header(name); got != value {
			t.Errorf("header %s is %q, want %q", name, got, value)
		}
	}
}
