package people

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// TestWithoutAHost: tokens are created, listed and revoked in a state folder that no host
// uses, and one that a host uses is refused.
func TestWithoutAHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ahp-canvas")
	run := func(args ...string) (string, error) {
		var out, notes bytes.Buffer
		env := &term.Env{Out: &out, Err: &notes, Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Dir(dir), "XDG_RUNTIME_DIR": filepath.Join(filepath.Dir(dir), "run")}[name]
		}}
		cmd := TokenCommand(env)
		cmd.SetArgs(args)
		cmd.SetOut(&out)
		cmd.SetErr(&notes)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	if _, err := run("list"); err == nil || !strings.Contains(err.Error(), "no host is running") {
		t.Errorf("a folder that no host has used: %v", err)
	}
	state, err := statedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run("list"); err == nil || !strings.Contains(err.Error(), "is using the state folder") {
		t.Errorf("a folder in use: %v", err)
	}
	state.Release()
	text, err := run("create", "--name", "Editor", "--role", "client", "--client", "desk", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var made created
	if err := ahp.Unmarshal(ahp.Value(text), &made); err != nil {
		t.Fatal(err)
	}
	tokens, err := token.Open(filepath.Join(dir, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := tokens.Find(made.Token); !ok || e.ClientID != "desk" || e.Role != "client" {
		t.Errorf("the next host finds %+v %v", e, ok)
	}
	if text, err := run("list", "--state", dir); err != nil || !strings.Contains(text, made.ID) {
		t.Errorf("list: %q %v", text, err)
	}
	if _, err := run("revoke", made.ID); err != nil {
		t.Error(err)
	}
	if text, err := run("list"); err != nil || strings.Contains(text, made.ID) {
		t.Errorf("list after revoke: %q %v", text, err)
	}
}
