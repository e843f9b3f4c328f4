package programtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
)

// agent is a program that starts ahp-canvas mcp and does not use this module.
type agent struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	errs *lockedBuffer
	id   int
}

func (m *machine) agent(args ...string) *agent {
	m.t.Helper()
	a := m.startAgent(args...)
	a.hello()
	return a
}

// startAgent starts the program and sends nothing.
func (m *machine) startAgent(args ...string) *agent {
	m.t.Helper()
	a := &agent{t: m.t, cmd: m.command(m.t.Context(), append([]string{"mcp"}, args...)...), errs: &lockedBuffer{}}
	a.cmd.Stderr = a.errs
	var err error
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		m.t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	a.out = bufio.NewScanner(out)
	if err := a.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	return a
}

func (a *agent) hello() {
	a.t.Helper()
	a.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	fmt.Fprintln(a.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (a *agent) request(method, params string) string {
	a.t.Helper()
	a.id++
	fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.id, method, params)
	if !a.out.Scan() {
		a.t.Fatalf("no answer to %s: %v\n%s", method, a.out.Err(), a.errs)
	}
	return a.out.Text()
}

// tool calls a tool and returns its structured content.
func (a *agent) tool(name, args string) (content json.RawMessage) {
	a.t.Helper()
	line := a.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	var answer struct {
		Result struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Result.IsError {
		a.t.Fatalf("%s: %s, %v", name, line, err)
	}
	return answer.Result.StructuredContent
}

func (a *agent) leave() int {
	a.in.Close()
	_ = a.cmd.Wait()
	return a.cmd.ProcessState.ExitCode()
}

// invites reports whether an agent's link is an invitation to a host's page, which does not
// disclose the view token.
func invites(s *server, link string) bool {
	return strings.HasPrefix(link, s.Page+"#invite=") && !strings.Contains(link, s.ViewToken)
}

// TestMCPProxies checks that an agent uses the running host.
func TestMCPProxies(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	a := m.agent()
	var o openResult
	if err := json.Unmarshal(a.tool("open_canvas", `{"canvasId":"board","instanceId":"agents"}`), &o); err != nil || !invites(s, o.Link) {
		t.Errorf("%+v, %v", o, err)
	}
	if !strings.Contains(m.do(0, "ls"), "agents") {
		t.Error("the host does not have what the agent opened")
	}
	if got := a.leave(); got != 0 || a.errs.String() != "" {
		t.Errorf("exit status %d: %s", got, a.errs)
	}
	if !strings.Contains(m.do(0, "ls"), "agents") {
		t.Error("the host lost what the agent opened")
	}
}

// TestMCPStartsAHost checks that mcp starts a host if none is running. People and other
// commands use it like any other; it ends with the agent.
func TestMCPStartsAHost(t *testing.T) {
	m := newMachine(t)
	a := m.agent("--canvas", webFolder(t, "mine"))
	var o openResult
	if err := json.Unmarshal(a.tool("open_canvas", `{"canvasId":"mine"}`), &o); err != nil {
		t.Fatal(err)
	}
	link := strings.TrimSpace(m.do(0, "link"))
	page, _, _ := strings.Cut(link, "#")
	m.do(0, "close", o.InstanceID)
	if got := a.leave(); got != 0 {
		t.Errorf("exit status %d: %s", got, a.errs)
	}
	if !strings.HasPrefix(o.Link, page+"#invite=") || !strings.Contains(link, "#tkn=") || !strings.Contains(a.errs.String(), link) {
		t.Errorf("links %s and %s, said %s", o.Link, link, a.errs)
	}
	m.do(1, "link")
}

// TestMCPWaitsForAHostThatStarts checks that an agent waits for a host that is starting,
// so that agents that start at the same time do not fail over the state folder.
func TestMCPWaitsForAHostThatStarts(t *testing.T) {
	m := newMachine(t)
	starting, err := statedir.Open(filepath.Join(m.state, "ahp-canvas"))
	if err != nil {
		t.Fatal(err)
	}
	defer starting.Release()
	a := m.startAgent()
	a.errs.await(t, "waiting for it")
	s := m.serve("--state", "memory") // which publishes its endpoint, as the other one would
	a.hello()
	var o openResult
	if err := json.Unmarshal(a.tool("open_canvas", `{"canvasId":"board"}`), &o); err != nil || !invites(s, o.Link) {
		t.Errorf("%+v, %v", o, err)
	}
	if got := a.leave(); got != 0 {
		t.Errorf("exit status %d: %s", got, a.errs)
	}
}

// TestMCPWaitsForAHostThatEnds checks that an agent starts its own host once the
// state folder is free.
func TestMCPWaitsForAHostThatEnds(t *testing.T) {
	m := newMachine(t)
	ending, err := statedir.Open(filepath.Join(m.state, "ahp-canvas"))
	if err != nil {
		t.Fatal(err)
	}
	a := m.startAgent()
	a.errs.await(t, "waiting for it")
	ending.Release()
	a.hello()
	if got := a.leave(); got != 0 || !strings.Contains(a.errs.String(), "No host was running") {
		t.Errorf("exit status %d: %s", got, a.errs)
	}
}

func TestMCPStops(t *testing.T) {
	m := newMachine(t)
	a := m.agent()
	a.tool("list_open_canvases", `{}`)
	_ = a.cmd.Process.Signal(syscall.SIGTERM)
	_ = a.cmd.Wait()
	if got := a.cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit status %d: %s", got, a.errs)
	}
}
