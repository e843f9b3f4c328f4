package process

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestRestart: the pauses double from 0.25 s to 10 s and never end; after a call that
// lasted they begin again.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		ended := time.Now()
		Restart(t.Context(), NewBackoff(), 10*time.Second, func() bool {
			pauses = append(pauses, time.Since(ended))
			if len(pauses) == 10 {
				time.Sleep(11 * time.Second)
			}
			ended = time.Now()
			return len(pauses) < 12
		})
		for n, want := range []float64{0, 0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 0.25, 0.5} {
			if got := pauses[n].Seconds(); got < want*0.79 || got > want*1.21 {
				t.Errorf("pause %d is %.2f s, want %.2f ± 20 %%", n, got, want)
			}
		}
	})
}

// TestEnvironment: a program does not get the host's tokens.
func TestEnvironment(t *testing.T) {
	if got := Environment([]string{"A=1", "AHP_CANVAS_TOKEN=x", "AHP_CANVAS_=y", "B=AHP_CANVAS_"}); !slices.Equal(got, []string{"A=1", "B=AHP_CANVAS_"}) {
		t.Errorf("%q", got)
	}
}
