package programtest

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestServiceManager checks that serve and relay take the listener of a socket unit, and
// report when they are ready and when they stop.
func TestServiceManager(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "a")
	for name, args := range map[string][]string{
		"serve": {"serve", "--state", "memory"},
		"relay": {"relay", "--tokens", tokens},
	} {
		t.Run(name, func(t *testing.T) { checkServiceManager(t, m, args) })
	}
}

func checkServiceManager(t *testing.T, m *machine, args []string) {
	dir, err := os.MkdirTemp("", "notify") // short: the address of a Unix socket has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	_ = notify.SetReadDeadline(time.Now().Add(2 * time.Minute))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := append([]string{"-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"`, binary}, args...)
	cmd := exec.CommandContext(t.Context(), "sh", line...)
	cmd.Env = append(m.env, "NOTIFY_SOCKET="+filepath.Join(dir, "s"))
	cmd.ExtraFiles, cmd.Stderr = []*os.File{f}, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	if got := received(t, notify); !strings.HasPrefix(got, "READY=1\nSTATUS=serving http://localhost:"+port+"/") {
		t.Errorf("%q", got)
	}
	resp, err := http.Get("http://localhost:" + port + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if got := received(t, notify); got != "STOPPING=1" {
		t.Errorf("%q", got)
	}
}

func received(t *testing.T, from *net.UnixConn) string {
	t.Helper()
	var b [512]byte
	n, err := from.Read(b[:])
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// TestUnitsAreHardened checks that systemd finds little that the units leave open.
func TestUnitsAreHardened(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	exposure := regexp.MustCompile(`Overall exposure level for .*: ([0-9.]+)`)
	for _, unit := range []string{"ahp-canvas.service", "ahp-canvas-relay.service"} {
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", "../../packaging/systemd/"+unit).CombinedOutput()
		found := exposure.FindSubmatch(out)
		if found == nil {
			t.Skipf("this systemd-analyze cannot judge a file: %v: %s", err, firstLine(out))
		}
		if level, err := strconv.ParseFloat(string(found[1]), 64); err != nil || level > 2.5 {
			t.Errorf("%s: exposure level %s, want at most 2.5", unit, found[1])
		}
	}
}

// TestFleetUnit checks that systemd accepts the unit of the relay with the override of
// ahp/relay/README.md, and that its command starts a relay.
func TestFleetUnit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs the program")
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	const unit = "ahp-canvas-relay.service"
	// The socket of the unit is the packaged one; the program is where this test has built it.
	for _, name := range []string{unit, "ahp-canvas-relay.socket"} {
		text, err := os.ReadFile("../../packaging/systemd/" + name)
		if err != nil {
			t.Fatal(err)
		}
		writeUnit(t, filepath.Join(dir, name), string(text))
	}
	override := readmeBlock(t, "../../../../ahp/relay/README.md", "[Service]\n")
	startOverride(t, override)
	writeUnit(t, filepath.Join(dir, unit+".d", "override.conf"), override)
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", "--recursive-errors=one", filepath.Join(dir, unit)).CombinedOutput()
	if text := string(out); err != nil || strings.Contains(text, "ahp-canvas") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, text)
	}
}

// startOverride starts a relay with the command of the override, and stops it.
func startOverride(t *testing.T, override string) {
	m, dir, signing := newMachine(t), t.TempDir(), t.TempDir()
	m.signedKey(signing, "laptop")
	cert, key := ahptest.WriteCertificate(t, dir, 1, "edge-1.relay.example")
	for from, to := range map[string]string{cert: "relay.pem", key: "relay.key", filepath.Join(signing, "relay.key.pub"): "relay.pub"} {
		if err := os.Rename(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, empty := range []string{"revoked", "nats.creds"} {
		if err := os.WriteFile(filepath.Join(dir, empty), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, line, _ := strings.Cut(override, "ExecStart=/usr/bin/ahp-canvas ")
	line, _, _ = strings.Cut(line, "\nTimeoutStopSec")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\n' "+strings.NewReplacer("%H", "edge-1", "/etc/ahp-canvas", dir).Replace(line))
	cmd.Env = []string{"CREDENTIALS_DIRECTORY=" + dir, "AHP_CANVAS_RELAY_FLAGS=--listen 127.0.0.1:0"}
	words, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := m.start(strings.Fields(string(words))...)
	if code := r.stop(); code != 0 || !strings.HasPrefix(r.line, "wss://localhost:") {
		t.Errorf("it printed %q and ended with %d:\n%s", r.line, code, r.errs)
	}
}

func writeUnit(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "/usr/bin/ahp-canvas", binary)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func firstLine(out []byte) string {
	s := bufio.NewScanner(strings.NewReader(string(out)))
	s.Scan()
	return s.Text()
}
