package mcpapp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestFigures measures, side by side, a tool call of a View and a bare one over standard
// streams.
func TestFigures(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("takes long: set AHP_LONG=1")
	}
	e := start(t)
	s := e.fake("ok")
	e.add(s)
	e.mustOpen("show", "")
	cmd := exec.Command(s.Command[0])
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	bare, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	for _, size := range []int{600, 94 << 10} {
		text := strings.Repeat("x", size)
		var ours, theirs []time.Duration
		for range 200 {
			begun := time.Now()
			if got := e.rpc("show", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"text":%q}}}`, text)); !strings.Contains(got, "counted") {
				t.Fatal(got)
			}
			ours = append(ours, time.Since(begun))
			begun = time.Now()
			if _, err := bare.CallTool(context.Background(), &sdk.CallToolParams{Name: "count", Arguments: map[string]any{"text": text}}); err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, time.Since(begun))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		t.Logf("%d bytes: a call of a View p50 %v, a bare one %v, difference %v", size, ours[100], theirs[100], ours[100]-theirs[100])
	}
}
