package session_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// reduceCustomizations applies an action to a list and returns the result.
func reduceCustomizations(t *testing.T, list, action string) ahp.Value {
	t.Helper()
	r := reducers["session"]
	initial := r.mustDecode(t, ahp.Value(`{"provider":"p","title":"T","status":1,"lifecycle":"ready","activeClients":[],"chats":[],"customizations":`+list+`}`))
	after := r.apply(t, initial, []ahp.Value{ahp.Value(action)})
	return ahp.MustMarshal(after.(session.State).Customizations)
}

// TestFindCustomizations covers cases that are missing in the fixtures: where an id is
// searched, and which customizations are not containers.
func TestFindCustomizations(t *testing.T) {
	const (
		shadow  = `[{"type":"plugin","id":"p","children":[{"type":"skill","id":"x"}]},{"type":"mcpServer","id":"x","state":{"kind":"starting"}}]`
		server  = `[{"type":"mcpServer","id":"s","children":[{"type":"skill","id":"k"}]}]`
		deep    = `[{"type":"plugin","id":"p","children":[{"type":"directory","id":"d","children":[{"type":"skill","id":"k"}]}]}]`
		strange = `[{"type":"future/thing","children":5,"id":7},{"type":"plugin","id":"p","enabled":true}]`
	)
	for _, tc := range []struct{ name, list, action, want string }{
		{"the top level comes before every child", shadow, `{"type":"session/mcpServerStateChanged","id":"x","state":{"kind":"ready"}}`,
			`[{"type":"plugin","id":"p","children":[{"type":"skill","id":"x"}]},{"type":"mcpServer","id":"x","state":{"kind":"ready"}}]`},
		{"so does a removal", shadow, `{"type":"session/customizationRemoved","id":"x"}`,
			`[{"type":"plugin","id":"p","children":[{"type":"skill","id":"x"}]}]`},
		{"a server is no container", server, `{"type":"session/customizationRemoved","id":"k"}`, server},
		{"children are one level deep", deep, `{"type":"session/customizationRemoved","id":"k"}`, deep},
		{"what cannot be read is kept", strange, `{"type":"session/customizationToggled","id":"p","enabled":false}`,
			`[{"type":"future/thing","children":5,"id":7},{"type":"plugin","id":"p","enabled":false}]`},
		{"an absent channel clears", `[{"type":"mcpServer","id":"s","channel":"mcp://s"}]`, `{"type":"session/mcpServerStateChanged","id":"s","state":{"kind":"stopped"}}`,
			`[{"type":"mcpServer","id":"s","state":{"kind":"stopped"}}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			equalJSON(t, ahp.Value(tc.want), reduceCustomizations(t, tc.list, tc.action))
		})
	}
}
