package testcases_test

import (
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// TestClientTranscripts plays the host of every client-side transcript against
// the Go client, over an in-memory WebSocket and with a clock that only "@"
// moves.
func TestClientTranscripts(t *testing.T) {
	all, err := testcases.ClientTranscripts()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d transcripts: %v", len(all), err)
	}
	for _, tr := range all {
		t.Run(tr.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newGoClient(t)
				defer c.stop()
				if err := tr.RunClient(t.Context(), c); err != nil {
					t.Errorf("%s (%s): %v", tr.Meta["title"], tr.Meta["rule"], err)
				}
			})
		})
	}
}
