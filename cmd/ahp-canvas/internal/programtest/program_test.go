package programtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
)

// binary is the program, which is built once. Under the race detector it is built with it,
// and a race in any of its processes fails the tests.
var binary string

func TestMain(m *testing.M) {
	if config := os.Getenv(natsVariable); config != "" {
		serveNATS(config) // this process is a NATS server of another one's test
		return
	}
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run()) // no test runs the program
	}
	dir, err := os.MkdirTemp("", "ahp-canvas-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "ahp-canvas")
	code := 1
	if err = build(dir); err == nil {
		code = max(m.Run(), races(dir))
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	args := []string{"build", "-o", binary, "../.."}
	if raced() {
		args = slices.Insert(args, 1, "-race")
		os.Setenv("GORACE", "log_path="+filepath.Join(dir, "race"))
	}
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// raced reports whether these tests were built with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// races prints the race reports of all processes, and returns 1 if there are any.
func races(dir string) (code int) {
	reports, _ := filepath.Glob(filepath.Join(dir, "race.*"))
	for _, file := range reports {
		text, _ := os.ReadFile(file)
		os.Stderr.Write(text)
		code = 1
	}
	return code
}

// machine is a user account: the folders and the environment of its programs.
type machine struct {
	t            *testing.T
	state, run   string
	env          []string
	via          []string // in front of every command, as in ip netns exec NAME
	lastOut, err string   // of the last command
}

func newMachine(t *testing.T) *machine {
	if testing.Short() {
		t.Skip("runs the real program")
	}
	dir := t.TempDir()
	m := &machine{t: t, state: filepath.Join(dir, "state"), run: filepath.Join(dir, "run")}
	for _, d := range []string{m.state, m.run} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.env = append(os.Environ(), "XDG_STATE_HOME="+m.state, "XDG_RUNTIME_DIR="+m.run, "AHP_CANVAS_TOKEN=")
	return m
}

func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	line := append(append(slices.Clone(m.via), binary), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = m.env
	return cmd
}

// do runs a command to its end and checks its exit status.
func (m *machine) do(want int, args ...string) string {
	m.t.Helper()
	return m.doWith("", want, args...)
}

func (m *machine) doWith(stdin string, want int, args ...string) string {
	m.t.Helper()
	cmd := m.command(m.t.Context(), args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		m.t.Fatalf("%q: %v", args, exit)
	}
	m.lastOut, m.err = out.String(), errs.String()
	if got := cmd.ProcessState.ExitCode(); got != want {
		m.t.Fatalf("%q: exit status %d, want %d\n%s%s", args, got, want, m.lastOut, m.err)
	}
	return m.lastOut
}

// server is a running host.
type server struct {
	reach.Endpoint
	cmd  *exec.Cmd
	out  *bufio.Reader
	errs *lockedBuffer
	done chan struct{} // closed when the process has ended
}

// noise returns what the host printed on standard error, except that this machine has a
// low limit of open files.
func (s *server) noise() string {
	var lines []string
	for line := range strings.Lines(s.errs.String()) {
		if !strings.Contains(line, "limit of open files") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// serve starts a host and reads its first line of output.
func (m *machine) serve(args ...string) *server {
	m.t.Helper()
	s := &server{errs: &lockedBuffer{}, done: make(chan struct{})}
	s.cmd = m.command(context.WithoutCancel(m.t.Context()), append([]string{"serve", "--json"}, args...)...)
	s.cmd.Stderr = s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadBytes('\n')
	go func() { _, _ = io.Copy(io.Discard, s.out); _ = s.cmd.Wait(); close(s.done) }()
	m.t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.done })
	if err != nil {
		<-s.done
		m.t.Fatalf("serve: %v\n%s", err, s.errs)
	}
	if err := json.Unmarshal(line, &s.Endpoint); err != nil {
		m.t.Fatalf("first line %s: %v", line, err)
	}
	return s
}

// stop sends a signal and returns the exit status.
func (s *server) stop(sig syscall.Signal) int {
	_ = s.cmd.Process.Signal(sig)
	<-s.done
	return s.cmd.ProcessState.ExitCode()
}

// lockedBuffer can be read while a process writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// await waits until a text was written.
func (l *lockedBuffer) await(t *testing.T, text string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(l.String(), text); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%q was not printed:\n%s", text, l)
		}
	}
}

// webFolder creates a folder that serve can offer as a canvas.
func webFolder(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html><title>Mine</title><p>mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
