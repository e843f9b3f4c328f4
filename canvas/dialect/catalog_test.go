package dialect_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestCatalog: notifications about sessions have the client's spelling and lists of
// folders, and from 1.0 on the chat of the session.
func TestCatalog(t *testing.T) {
	const (
		legacyChats = `"chats":[{"modifiedAt":"m","origin":{"kind":"user"},"resource":"ahp-chat://default/Y2FudmFzOi9z","status":1,"title":"T"}]`
		added       = `{"jsonrpc":"2.0","method":"root/sessionAdded","params":{"channel":"ahp-root://","summary":{"resource":"ahp-session:/s","title":"T","status":1,"modifiedAt":"m","workingDirectory":"file:///a"}}}`
		changed     = `{"jsonrpc":"2.0","method":"root/sessionSummaryChanged","params":{"channel":"ahp-root://","session":"ahp-session:/s","changes":{"modifiedAt":"m","title":"T"}}}`
		removed     = `{"jsonrpc":"2.0","method":"root/sessionRemoved","params":{"channel":"ahp-root://","session":"ahp-session:/s"}}`
	)
	for _, tc := range []struct{ version, text, member, want string }{
		{"0.9.0", added, "summary", `{"modifiedAt":"m","resource":"canvas:/s","status":1,"title":"T","workingDirectories":["file:///a"]}`},
		{"0.10.0", added, "summary", `{"modifiedAt":"m","resource":"canvas:/s","status":1,"title":"T","workingDirectories":["file:///a"]}`},
		{"1.0.0", added, "summary", `{` + legacyChats + `,"defaultChat":"ahp-chat://default/Y2FudmFzOi9z","modifiedAt":"m","resource":"canvas:/s","status":1,"title":"T","workingDirectories":["file:///a"]}`},
		{"0.10.0", changed, "changes", `{"modifiedAt":"m","title":"T"}`},
		{"1.0.0", changed, "changes", `{` + legacyChats + `,"modifiedAt":"m","title":"T"}`},
		{"0.9.0", changed, "session", `"canvas:/s"`},
		{"1.0.0", removed, "session", `"canvas:/s"`},
	} {
		d, err := dialect.New(dialect.Options{State: func(string) (channels.State, bool) {
			return session.State{Title: "T", Status: 1}, true
		}}).Negotiate(ahp.Value(`{"protocolVersions":["` + tc.version + `"],"clientInfo":{"name":"vscode-x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		params := member(t, send(t, d.Translator(ws.Grant{}), ahp.Value(tc.text)), "params")
		if got := string(member(t, params, tc.member)); got != tc.want {
			t.Errorf("%s: %s\nhas the %s\n%s, want\n%s", tc.version, tc.text, tc.member, got, tc.want)
		}
	}
}

// TestFailedSession: a session that could not be created is failed in later versions.
func TestFailedSession(t *testing.T) {
	for _, version := range laterVersions {
		state := subscribe(t, connect(t, version), sessionURI, map[string]any{
			sessionURI: session.State{Lifecycle: session.LifecycleCreationFailed}, "ahp-chat:/s": map[string]any{"modifiedAt": "", "turns": []int{}, "status": 0},
		})
		if got := string(member(t, state, "lifecycle")); got != `"failed"` {
			t.Errorf("%s: the lifecycle is %s", version, got)
		}
	}
}
