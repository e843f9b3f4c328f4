package mcpapp_test

import (
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestMain also runs the fake server, when a test's runner starts the test binary as a
// server's program, and a host, when a test kills one.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_MCP_SERVER") != "" {
		runFake()
		return
	}
	if os.Getenv("FAKE_HOST") != "" {
		runHost()
		return
	}
	os.Exit(webtest.Main(m))
}
