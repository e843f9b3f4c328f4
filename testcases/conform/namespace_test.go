package conform

import (
	"strings"
	"testing"
)

func TestNamespace(t *testing.T) {
	n := namespace{prefix: "x1-"}
	for _, tt := range []struct{ out, wire string }{
		{`{"channel":"ahp-session:/default","clientId":"c1"}`, `{"channel":"ahp-session:/x1-default","clientId":"x1-c1"}`},
		{`{"uri":"ahp-canvas-content:/c1/x","clientId" : "c1"}`, `{"uri":"ahp-canvas-content:/c1/x","clientId" : "x1-c1"}`},
		{`{"clientId":"","extensionId":"client:c1","channel":"ahp-session:"}`, `{"clientId":"","extensionId":"client:x1-c1","channel":"ahp-session:"}`},
		{`{"clientId":7,"protocolVersions":["0.6.0"],"provider":"canvas"}`, `{"clientId":7,"protocolVersions":["0.6.0"],"provider":"canvas"}`},
		{`["ahp-chat://default/YWhwLXNlc3Npb246L2RlZmF1bHQ","canvas:/new","ahp-chat://default/Y2FudmFzOi9uZXc"]`, `["ahp-chat://default/YWhwLXNlc3Npb246L3gxLWRlZmF1bHQ","canvas:/x1-new","ahp-chat://default/Y2FudmFzOi94MS1uZXc"]`},
		{`{"channel":"mcp:/ahp-canvas/YWhwLXNlc3Npb246L2RlZmF1bHQ","x":"ahp-chat://default/_"}`, `{"channel":"mcp:/ahp-canvas/YWhwLXNlc3Npb246L3gxLWRlZmF1bHQ","x":"ahp-chat://default/_"}`},
		{"\xff no JSON: ahp-session:/x", "\xff no JSON: ahp-session:/x1-x"},
	} {
		if got := string(n.out([]byte(tt.out))); got != tt.wire {
			t.Errorf("out %s: got %s, want %s", tt.out, got, tt.wire)
		}
		if got, ours := n.in([]byte(tt.wire)); string(got) != tt.out || !ours {
			t.Errorf("in %s: got %s %v, want %s", tt.wire, got, ours, tt.out)
		}
	}
}

// A host with an older version and another provider of sessions.
func TestNamespaceOfOlderHost(t *testing.T) {
	n := namespace{prefix: "x1-", version: "0.5.1", agent: "copilot"}
	const ours, theirs = `{"v":["0.6.0"],"provider": "canvas"}`, `{"v":["0.5.1"],"provider": "copilot"}`
	if got := string(n.out([]byte(ours))); got != theirs {
		t.Errorf("out: %s", got)
	}
	if got, _ := n.in([]byte(theirs)); string(got) != ours {
		t.Errorf("in: %s", got)
	}
	// A session that already has the provider "canvas" belongs to others.
	if got := string(n.out([]byte(`{"provider":"nobody"}`))); got != `{"provider":"nobody"}` {
		t.Errorf("out: %s", got)
	}
}

func TestOthersAreFiltered(t *testing.T) {
	n := namespace{prefix: "x1-"}
	for _, tt := range []struct{ frame, want string }{
		{`{"method":"root/sessionAdded","params":{"summary":{"resource":"ahp-session:/x1-a"}}}`, `{"method":"root/sessionAdded","params":{"summary":{"resource":"ahp-session:/a"}}}`},
		{`{"method":"root/sessionAdded","params":{"summary":{"resource":"ahp-session:/other"}}}`, ""},
		{`{"id":1,"error":{"code":1,"message":"root/sessionAdded"}}`, `{"id":1,"error":{"code":1,"message":"root/sessionAdded"}}`},
		{`{"id":1,"result":{"items":[{"resource":"ahp-session:/other"},{"resource":"ahp-session:/x1-a"},{"odd":1}]}}`, `{"id":1,"result":{"items":[{"resource":"ahp-session:/a"},{"odd":1}]}}`},
		{`{"id":1,"result":{"items":[]}}`, `{"id":1,"result":{"items":[]}}`},
		{`{"id":1,"result":{"items":7}}`, `{"id":1,"result":{"items":7}}`},
	} {
		if got, _ := n.in([]byte(tt.frame)); string(got) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.frame, got, tt.want)
		}
	}
}

// FuzzNamespace checks that a frame survives out and in.
func FuzzNamespace(f *testing.F) {
	f.Add([]byte(`{"channel":"ahp-session:/default","clientId":"c1","x":"client:c1"}`))
	f.Add([]byte(`{"items":[{}],"method":"root/sessionAdded"`))
	f.Add([]byte("ahp-session:/\x00\"clientId\":\"\""))
	f.Fuzz(func(t *testing.T, frame []byte) {
		n := namespace{prefix: "x1-"}
		if strings.Contains(string(frame), "x1-") {
			return
		}
		wire := n.out(frame)
		// Root notifications and lists without one of our sessions are
		// filtered, so they do not survive.
		if back, ours := n.in(wire); ours && !strings.Contains(string(frame), `"items"`) && string(back) != string(frame) {
			t.Errorf("out turned %q into %q, and in that into %q", frame, wire, back)
		}
	})
}
