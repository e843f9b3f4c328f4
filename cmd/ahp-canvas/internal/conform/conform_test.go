package conform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// A host that answers, but not what every case begins with, is not told to listen.
func TestNotTestable(t *testing.T) {
	err := runError("ws://host", fmt.Errorf("createSession: %w", &ahp.Error{Code: ahp.CodeMethodNotFound, Message: "no"}))
	if text := err.Error(); !strings.Contains(text, "createSession, subscribe") || strings.Contains(text, "listens") {
		t.Error(text)
	}
}
