package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestA2UIFlags: which remote agents a host starts with.
func TestA2UIFlags(t *testing.T) {
	dir := t.TempDir()
	token, empty := filepath.Join(dir, "token"), filepath.Join(dir, "empty")
	for file, content := range map[string]string{token: "secret-token\n", empty: "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func(s ...string) []string { return s }
	for _, tt := range []struct {
		agents, tokens []string
		want           string // of the error
	}{
		{list("finder=http://127.0.0.1:10002", "other=wss://agent.example/ws"), list("finder=" + token), ""},
		{nil, nil, ""},
		{list("finder=http://192.0.2.1"), nil, "--a2ui-agent finder: plain http and ws reach agents on this machine alone"},
		{list("finder=https://me:secret-password@agent.example"), nil, "without user name"},
		{list("finder"), nil, "want a name of up to 32"},
		{list("Finder=https://agent.example"), nil, "want a name of up to 32"},
		{list("a=https://agent.example", "a=https://agent.example"), nil, `there is an agent "a" already`},
		{list("a=https://agent.example"), list("b=" + token), "there is no --a2ui-agent b"},
		{list("a=https://agent.example"), list("a=" + empty), "want a file with one token"},
		{list("a=https://agent.example"), list("a=" + filepath.Join(dir, "none")), "no such file"},
		{list("a=https://agent.example"), list("a="+token, "a="+token), "want the name of one agent and a file"},
	} {
		err := (&a2uiOptions{agents: tt.agents, tokens: tt.tokens}).check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q %q: %v, want %q", tt.agents, tt.tokens, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret-token") || strings.Contains(err.Error(), "secret-password")) {
			t.Errorf("the error has a secret: %v", err)
		}
	}
}
