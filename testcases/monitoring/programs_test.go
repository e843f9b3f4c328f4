package monitoring

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// machine starts the program with separate folders.
type machine struct {
	t           *testing.T
	binary, dir string
}

// published starts a relay of a fleet, whose NATS server does not run, and a host that
// is registered at it, and returns what they publish. A collector reads their traces.
func published(t *testing.T) map[string]family {
	m := machine{t, filepath.Join(t.TempDir(), "ahp-canvas"), t.TempDir()}
	build := exec.Command("go", "build", "-o", m.binary, "./cmd/ahp-canvas")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	collector := newCollector(t)
	tokens, key, at := filepath.Join(m.dir, "tokens.json"), filepath.Join(m.dir, "key.json"), free(t)
	m.run("relay", "token", "--tokens", tokens, "--host", "laptop", "--out", key)
	relayAdmin, hostAdmin := free(t), free(t)
	url := "ws://" + at + "/"
	m.start("relay", "--json", "--listen", at, "--tokens", tokens, "--admin", relayAdmin, "--otlp", collector.url,
		"--nats", "nats://"+free(t), "--advertise", url, "--edges", url)
	line := m.start("serve", "--json", "--browser", "none", "--open", "board", "--state", filepath.Join(m.dir, "state"), "--listen", "127.0.0.1:0", "--admin", hostAdmin, "--otlp", collector.url,
		"--relay", url, "--relay-token-file", key)
	var host struct{ Link string }
	if err := json.Unmarshal(line, &host); err != nil {
		t.Fatal(err)
	}
	m.run("invoke", "board", "get_board")
	if n := exemplars(t, hostAdmin); n == 0 {
		t.Error("the host has no exemplars")
	}
	m.awaitLane(key, url, relayAdmin)
	collector.await("canvas open", "canvas invoke", "provider", "relay lane")
	all := map[string]family{}
	scrape(t, hostAdmin, all)
	scrape(t, relayAdmin, all)
	return all
}

// awaitLane comes and goes as a client until the relay has traced it.
func (m machine) awaitLane(key, url, admin string) {
	text, err := os.ReadFile(key)
	if err != nil {
		m.t.Fatal(err)
	}
	var made struct{ ClientToken string }
	if err := json.Unmarshal(text, &made); err != nil {
		m.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); exemplars(m.t, admin) == 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatal("the relay has no exemplars")
		}
		req, err := http.NewRequest(http.MethodGet, "http"+url[2:]+"ahp/laptop", nil)
		if err != nil {
			m.t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Authorization": "Bearer " + made.ClientToken, "Connection": "Upgrade", "Upgrade": "websocket",
			"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
		} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			m.t.Fatal(err)
		}
		_ = resp.Body.Close() // ends the lane
	}
}

func (m machine) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), m.binary, args...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+m.dir, "XDG_STATE_HOME="+m.dir, "HOME="+m.dir)
	return cmd
}

func (m machine) run(args ...string) {
	m.t.Helper()
	if out, err := m.command(args...).CombinedOutput(); err != nil {
		m.t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// start starts the program until the test ends, and returns its first line.
func (m machine) start(args ...string) []byte {
	m.t.Helper()
	cmd := m.command(args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadBytes('\n')
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = io.Copy(io.Discard, lines); _ = cmd.Wait() }()
	m.t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	if err != nil {
		m.t.Fatalf("%q: %v", args, err)
	}
	return first
}

// free returns an address of this machine that is free now.
func free(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
