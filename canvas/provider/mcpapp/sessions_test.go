package mcpapp_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// TestSessions: all sessions share one connection to a server, and its state with it.
func TestSessions(t *testing.T) {
	e := start(t)
	const other = "ahp-session:/other"
	if err := e.host.EnsureSession(other, "Other"); err != nil {
		t.Fatal(err)
	}
	e.add(e.fake("ok"))
	e.mustOpen("show", `{"what":"one"}`)
	if _, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: other, CanvasID: "show", InstanceID: "theirs", Input: ahp.Value(`{"what":"two"}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.host.Canvases().Invoke(t.Context(), canvas.InvokeArgs{Session: other, InstanceID: "theirs", ActionName: "act", Input: ahp.Value(`{"what":"withdraw"}`)}); err != nil {
		t.Fatal(err)
	}
	e.await("the tool to be withdrawn", func() bool {
		return strings.Contains(e.rpc("show", `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"count","arguments":{}}}`), "unknown tool")
	})
	if n := strings.Count(e.log("fake"), " started"); n != 1 {
		t.Errorf("%d processes of the server run", n)
	}
}

// runHost is the program of a host. It says "ready" once the canvases that it had are open
// again, opens a canvas of the fake server with each of the inputs in FAKE_INPUTS, says so, and
// waits for its end.
func runHost() {
	h, err := startHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	for stale := true; stale; time.Sleep(5 * time.Millisecond) { // not in the test's process
		open, err := h.Canvases().ListOpen(host.DefaultSession)
		stale = err != nil || slices.ContainsFunc(open, func(o canvas.OpenCanvas) bool { return o.Availability != "ready" })
	}
	fmt.Println("ready")
	for what := range strings.SplitSeq(os.Getenv("FAKE_INPUTS"), ",") {
		_, err := h.Canvases().Open(context.Background(), canvas.OpenArgs{
			Session: host.DefaultSession, CanvasID: "show", InstanceID: "show", Input: ahp.MustMarshal(map[string]string{"what": what}),
		})
		fmt.Println("opened", err)
	}
	select {}
}

// startHost starts a host that keeps its canvases in FAKE_HOST, with the fake server.
func startHost() (*host.Host, error) {
	store, err := sqlitestore.Open(context.Background(), filepath.Join(os.Getenv("FAKE_HOST"), "store"), sqlitestore.Options{})
	if err != nil {
		return nil, err
	}
	h, err := host.New(host.Options{Store: store})
	if err != nil {
		return nil, err
	}
	r, err := mcpapp.New(mcpapp.Options{Service: h.Canvases(), LogDir: os.Getenv("FAKE_HOST")})
	if err != nil {
		return nil, err
	}
	g, err := r.Add(mcpapp.Server{Name: "fake", Command: []string{os.Args[0]}, Env: map[string]string{"FAKE_MCP_SERVER": "ok"}})
	if err != nil {
		return nil, err
	}
	return h, g.WaitStarted(context.Background())
}

// hostProcess is a running runHost.
type hostProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// startHostProcess starts a host that keeps its canvases in a folder, and its server's calls in
// the file calls there. It returns once the host is ready.
func startHostProcess(t *testing.T, dir, inputs string) *hostProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_HOST="+dir, "FAKE_INPUTS="+inputs, "FAKE_CALLS="+filepath.Join(dir, "calls"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &hostProcess{t, cmd, bufio.NewScanner(out)}
	t.Cleanup(h.kill)
	if !h.says("ready") {
		t.Fatalf("the host says %q", h.lines.Text())
	}
	return h
}

// says reads a line.
func (h *hostProcess) says(want string) bool { return h.lines.Scan() && h.lines.Text() == want }

// kill kills the host and waits for its end.
func (h *hostProcess) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// calls returns how often the server was called with an input.
func (h *hostProcess) calls(dir, input string) int {
	h.t.Helper()
	seen, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return strings.Count(string(seen), input)
}

// TestKilledHost: a host that is killed at any time calls no tool again when it is back: the
// server sees as many calls as opens were asked for, and one that was answered is seen.
func TestKilledHost(t *testing.T) {
	rounds := 3
	if os.Getenv("AHP_LONG") != "" {
		rounds = 100
	}
	dir, answered := t.TempDir(), 0
	random := rand.New(rand.NewPCG(3, 4))
	input := func(n int) string { return fmt.Sprintf("round %d. slowly", n) }
	for n := range rounds {
		h := startHostProcess(t, dir, input(n))
		time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { _ = h.cmd.Process.Kill() })
		opened := h.says("opened <nil>")
		h.kill()
		if opened {
			answered++
			if h.calls(dir, input(n)) == 0 {
				t.Errorf("%s was answered without a call", input(n))
			}
		}
	}
	h := startHostProcess(t, dir, "the end")
	for n := range rounds {
		if got := h.calls(dir, input(n)); got > 1 {
			t.Errorf("%s was called %d times", input(n), got)
		}
	}
	t.Logf("%d rounds, %d opens answered, %d calls", rounds, answered, h.calls(dir, "round "))
}

// TestInterruptedOpen: a host that was killed during a second open, before it had the result,
// calls the tool neither for that open nor for the first when it is back.
func TestInterruptedOpen(t *testing.T) {
	dir := t.TempDir()
	h := startHostProcess(t, dir, "the first,wait:/nothing/like/this")
	if !h.says("opened <nil>") {
		t.Fatalf("the host says %q", h.lines.Text())
	}
	for end := time.Now().Add(webtest.Timeout); h.calls(dir, "wait:") == 0; <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no second call")
		}
	}
	h.kill()
	h = startHostProcess(t, dir, "the third")
	if !h.says("opened <nil>") {
		t.Fatalf("the host says %q", h.lines.Text())
	}
	for _, input := range []string{"the first", "wait:", "the third"} {
		if got := h.calls(dir, input); got != 1 {
			t.Errorf("%s: %d calls", input, got)
		}
	}
}
