package conform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestNotTestable checks the error for a host that lacks methods which every case needs.
func TestNotTestable(t *testing.T) {
	err := runError("ws://host", fmt.Errorf("createSession: %w", &ahp.Error{Code: ahp.CodeMethodNotFound, Message: "no"}))
	if text := err.Error(); !strings.Contains(text, "createSession, subscribe") || strings.Contains(text, "listens") {
		t.Error(text)
	}
}
