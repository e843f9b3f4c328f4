package editors_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
)

// TestVSCode connects VS Code's own client class, lists, subscribes, creates a session,
// sends a message, loses the connection and is back: with the versions that it offers, and
// with those of later releases. What its reducers make of the entries is what the host's
// snapshots have.
func TestVSCode(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("AHP_LONG=1 and npm packages are needed")
	}
	if out, err := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
		t.Skipf("npm ci: %v\n%s", err, out)
	}
	for versions, want := range map[string]string{
		"":                           "0.9.0",
		`["0.10.0","0.9.0"]`:         "0.10.0",
		`["1.0.0","0.10.0","0.9.0"]`: "1.0.0",
	} {
		t.Run(want, func(t *testing.T) { vscode(t, versions, want) })
	}
}

// editorToken is the token of an editor, of the role that the README names.
const editorToken = "editor"

// forEditor are the options of a host to which an editor connects.
var forEditor = host.Options{Tokens: []ws.Token{{Secret: editorToken, Role: host.RoleClient}}}

func vscode(t *testing.T, versions, want string) {
	h, err := host.New(forEditor)
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	cmd := exec.CommandContext(t.Context(), "node", "--import", "./register.mjs", "vscode.mjs", strings.Replace(h.Endpoints().Page, "http", "ws", 1), editorToken)
	cmd.Env = append(os.Environ(), "VERSIONS="+versions)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var seen struct {
		Version                        string
		Sessions, Created, Reconnected []string
		Turn, Entries, Warnings        []string
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if seen.Version != want {
		t.Errorf("version %q, want %q", seen.Version, want)
	}
	for _, l := range []struct{ have, want []string }{
		{seen.Sessions, []string{"canvas:/default"}},
		{seen.Created, []string{"canvas:/default", "canvas:/made"}},
		{seen.Reconnected, []string{"canvas:/default", "canvas:/made"}},
		{seen.Turn, []string{"chat/turnStarted", "chat/responsePart", "chat/turnComplete"}},
		{seen.Entries, []string{
			"chat/draftChanged",
			"chat/turnStarted", "chat/responsePart", "chat/turnComplete", "session/chatUpdated",
			"session/titleChanged", "session/chatUpdated", "session/isReadChanged",
			"chat/turnStarted", "chat/responsePart", "chat/turnComplete", "session/chatUpdated",
		}},
		{seen.Warnings, nil},
	} {
		if !slices.Equal(l.have, l.want) {
			t.Errorf("the client saw %q, want %q", l.have, l.want)
		}
	}
}
