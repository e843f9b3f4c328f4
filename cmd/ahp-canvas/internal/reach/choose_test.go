package reach

import (
	"errors"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// TestMatching checks which running hosts --host means. A name comes before a process id,
// and that before a port.
func TestMatching(t *testing.T) {
	host := func(name string, pid int, port string) Published {
		return Published{Name: name, Endpoint: Endpoint{PID: pid, MCP: "http://localhost:" + port + "/mcp"}}
	}
	all := []Published{host("notes", 10, "4000"), host("notes", 11, "10"), host("", 12, "4002")}
	for given, want := range map[string][]int{
		"": {10, 11, 12}, "notes": {10, 11}, "10": {10}, "11": {11}, "12": {12}, "4002": {12}, "13": nil, "note": nil,
		"http://127.0.0.1:4000/#tkn=x": {10}, "https://localhost:4000": nil,
	} {
		found, err := Target{Host: given}.matching(all)
		if err != nil || len(found) != len(want) {
			t.Errorf("--host %q: %v, %v, want %v", given, found, err, want)
			continue
		}
		for i, pid := range want {
			if found[i].PID != pid {
				t.Errorf("--host %q: %v, want %v", given, found, want)
			}
		}
	}
	e, ok := errors.AsType[*canvas.Error](ambiguous("notes", all[:2]))
	if !ok || e.Code != term.CodeAmbiguousHost || len(e.Candidates) != 2 || e.Candidates[1] != "11" {
		t.Errorf("ambiguous: %v", e)
	}
}
