package editors_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// copilotCLI is the published Copilot CLI.
const copilotCLI = "@github/copilot@1.0.102"

// TestCopilotCLI connects Copilot CLI to a host, in a terminal. It needs no account: it
// shows the sessions of the host, and no model is called.
func TestCopilotCLI(t *testing.T) {
	copilot := installCopilot(t)
	h, err := host.New(forEditor)
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	term := openTerminal(t, copilot, "--ahp", strings.Replace(h.Endpoints().Page, "http", "ws", 1)+"?tkn="+editorToken)
	trusts := false
	await(t, "Copilot CLI", func() error {
		text := term.screen()
		if !trusts && strings.Contains(text, "Do you trust the files in this folder?") {
			_, err := term.tmux("send-keys", "Enter") // an empty folder of the test
			trusts = err == nil
		}
		if !strings.Contains(text, "Connected to") {
			return fmt.Errorf("the terminal shows\n%s", text)
		}
		return nil
	})
	t.Logf("the terminal shows\n%s", term.screen())
}

// TestCopilotHost plays the transcripts of later versions against the host in Copilot CLI,
// which is another implementation of AHP 1.0. It creates no session without an account, so
// it shows how it negotiates.
func TestCopilotHost(t *testing.T) {
	copilot := installCopilot(t)
	term := openTerminal(t, copilot, "--ahp-host", "--listen", "127.0.0.1:"+freePort(t))
	url := ""
	await(t, "the host in Copilot CLI", func() error {
		if url = endpoint.FindString(term.screen()); url == "" {
			return fmt.Errorf("the terminal shows\n%s", term.screen())
		}
		return nil
	})
	report, err := conform.Run(t.Context(), conform.Options{URL: url, Only: []string{"later/"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report.Host)
	passed := 0
	for _, r := range report.Results {
		t.Logf("%s: %s %s%s\n%s", r.Case, r.Status, r.Reason, r.Problem, strings.Join(r.Exchange, "\n"))
		if r.Status == conform.Failed {
			t.Errorf("%s fails against another host of AHP 1.0", r.Case)
		}
		if r.Status == conform.Passed {
			passed++
		}
	}
	if passed < 3 {
		t.Errorf("%d cases passed, want those of the negotiation", passed)
	}
}

// endpoint is the address that Copilot CLI prints of its host, with a token that it takes
// from there only.
var endpoint = regexp.MustCompile(`ws://\S+/\?tkn=[0-9a-f]{64}`)

// installCopilot returns the program, and installs it if the cache has none.
func installCopilot(t *testing.T) string {
	t.Helper()
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("AHP_LONG=1, tmux and an npm package of 200 MB are needed")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip(err)
	}
	dir := cacheFolder(t, "copilot-1.0.102")
	program := filepath.Join(dir, "node_modules", ".bin", "copilot")
	if _, err := os.Stat(program); err != nil {
		npm(t, dir, "install", "--prefix", dir, copilotCLI)
	}
	return program
}

// terminal is a tmux server of a test with one terminal.
type terminal struct{ home string }

func (term terminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(term.home, "tmux"), "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+term.home, "COPILOT_HOME="+term.home, "COPILOT_OFFLINE=true",
		"COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:9/v1", "COPILOT_MODEL=fake", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_CLI_ENABLED_FEATURE_FLAGS=AHP_CLIENT")
	cmd.Dir = term.home
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// screen returns what the terminal shows.
func (term terminal) screen() string {
	out, err := term.tmux("capture-pane", "-p", "-J")
	if err != nil {
		return err.Error() + out
	}
	return strings.TrimRight(out, "\n ")
}

// openTerminal runs Copilot CLI in a terminal, without an account or a network.
func openTerminal(t *testing.T, program string, args ...string) terminal {
	t.Helper()
	home, err := os.MkdirTemp("", "copilot") // no t.TempDir: the program can write until after it was stopped
	if err != nil {
		t.Fatal(err)
	}
	term := terminal{home}
	t.Cleanup(func() {
		_, _ = term.tmux("kill-server")
		_ = os.RemoveAll(home)
	})
	if out, err := term.tmux(append([]string{"new-session", "-d", "-x", "120", "-y", "40", "--", program}, args...)...); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	return term
}
