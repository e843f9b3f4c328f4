package reach

import "testing"

func TestAHPURL(t *testing.T) {
	for mcp, want := range map[string]string{
		"http://127.0.0.1:8080/mcp":  "ws://127.0.0.1:8080/ahp",
		"https://canvas.example/mcp": "wss://canvas.example/ahp",
	} {
		if got := (Host{MCP: mcp}).AHP(); got != want {
			t.Errorf("%s: %s, want %s", mcp, got, want)
		}
	}
}
