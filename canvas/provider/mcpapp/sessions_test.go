package mcpapp_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
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

// runHost is the program of a host that opens a canvas of the fake server, says so, and waits
// for its end.
func runHost() {
	store, err := sqlitestore.Open(context.Background(), filepath.Join(os.Getenv("FAKE_HOST"), "store"), sqlitestore.Options{})
	if err != nil {
		fmt.Println("store", err)
		return
	}
	h, err := host.New(host.Options{Store: store})
	if err != nil {
		fmt.Println("host", err)
		return
	}
	r, err := mcpapp.New(mcpapp.Options{Service: h.Canvases(), LogDir: os.Getenv("FAKE_HOST")})
	if err != nil {
		fmt.Println("runner", err)
		return
	}
	g, err := r.Add(mcpapp.Server{Name: "fake", Command: []string{os.Args[0]}, Env: map[string]string{"FAKE_MCP_SERVER": "ok"}})
	if err == nil {
		err = g.WaitStarted(context.Background())
	}
	if err != nil {
		fmt.Println("server", err)
		return
	}
	fmt.Println("ready")
	_, err = h.Canvases().Open(context.Background(), canvas.OpenArgs{
		Session: host.DefaultSession, CanvasID: "show", InstanceID: "show", Input: ahp.MustMarshal(map[string]string{"what": os.Getenv("FAKE_ROUND") + " slowly"}),
	})
	fmt.Println("opened", err)
	select {}
}

// TestKilledHost: a host that is killed at any time calls no tool again when it is back: the
// server sees as many calls as opens were asked for, and one that was answered is seen.
func TestKilledHost(t *testing.T) {
	rounds := 3
	if os.Getenv("AHP_LONG") != "" {
		rounds = 100
	}
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	random := rand.New(rand.NewPCG(3, 4))
	answered := 0
	for n := range rounds {
		round := fmt.Sprintf("round %d.", n)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FAKE_HOST="+dir, "FAKE_ROUND="+round, "FAKE_CALLS="+calls)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the host says %q", lines.Text())
		}
		time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		opened := lines.Scan() && lines.Text() == "opened <nil>"
		_ = cmd.Wait()
		seen, err := os.ReadFile(calls)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		switch got := strings.Count(string(seen), round); {
		case got > 1, opened && got == 0:
			t.Fatalf("%s %d calls, answered: %v", round, got, opened)
		case opened:
			answered++
		}
	}
	seen, err := os.ReadFile(calls)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for n := range rounds {
		if got := strings.Count(string(seen), fmt.Sprintf("round %d.", n)); got > 1 {
			t.Errorf("round %d was called %d times", n, got)
		}
	}
	t.Logf("%d rounds, %d opens answered, %d calls", rounds, answered, strings.Count(string(seen), "show "))
}
