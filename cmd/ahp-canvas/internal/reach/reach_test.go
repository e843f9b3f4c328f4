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

// TestMCPURL checks that --host takes a host's URL, its page's or its endpoint's, also
// under the path prefix of a proxy.
func TestMCPURL(t *testing.T) {
	for host, want := range map[string]string{
		"http://localhost:8080":            "http://localhost:8080/mcp",
		"http://localhost:8080/":           "http://localhost:8080/mcp",
		"http://localhost:8080/mcp":        "http://localhost:8080/mcp",
		"https://a.example/team/#tkn=x":    "https://a.example/team/mcp",
		"https://a.example/team/mcp":       "https://a.example/team/mcp",
		"https://a.example/a%20team?x=1":   "https://a.example/a%20team/mcp",
		"https://a.example/mcp-hosts/one/": "https://a.example/mcp-hosts/one/mcp",
	} {
		if got, err := mcpURL(host); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", host, got, err, want)
		}
	}
}
