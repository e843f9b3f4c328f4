package relay

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Lanes open, exchange messages and close for the time in AHP_SOAK (10m; a
// second by default). Afterwards the relay holds no more than it did after the
// first round.
func TestSoak(t *testing.T) {
	lasts := time.Second
	if long, err := time.ParseDuration(os.Getenv("AHP_SOAK")); err == nil {
		lasts = long
	}
	p := startChild(t, "edge", "")
	n := p.network()
	u := startUplink(t, n, UplinkOptions{Drain: time.Millisecond})
	u.await(t, Registered)
	lanes := 0
	round := func() {
		var wg sync.WaitGroup
		for i := range 40 {
			lanes++
			wg.Go(func() {
				c, err := ws.Dial(t.Context(), edgeURL+"ahp/laptop", ws.DialOptions{Token: userToken, NetDial: n.dial})
				if err != nil {
					t.Error(err)
					return
				}
				for _, size := range []int{100, 5000, 100_000} {
					text := strconv.Itoa(i) + randomText(size)
					if got, err := say(c, text); err != nil || got != text {
						t.Errorf("%v", err)
					}
				}
				c.Close(ws.CodeNormal, "")
				c.Wait()
			})
		}
		wg.Wait()
	}
	round()
	var goroutines, descriptors int
	eventually(t, "the first lanes end", func() bool {
		goroutines, descriptors = p.goroutines(t), p.descriptors()
		return goroutines < 40
	})
	began, told := time.Now(), time.Now()
	for time.Since(began) < lasts && !t.Failed() {
		round()
		if time.Since(told) > 30*time.Second {
			told = time.Now()
			t.Logf("%s: %d lanes, %d goroutines, %d descriptors, %.1f MB", time.Since(began).Round(time.Second), lanes, p.goroutines(t), p.descriptors(), p.resident(false))
		}
	}
	eventually(t, "nothing is left of the lanes", func() bool { return p.goroutines(t) <= goroutines && p.descriptors() <= descriptors })
	t.Logf("%s: %d lanes; at first %d goroutines, %d descriptors; at last %d and %d; %.1f MB, %.1f MB at most", time.Since(began).Round(time.Second), lanes, goroutines, descriptors, p.goroutines(t), p.descriptors(), p.resident(false), p.resident(true))
	if peak := p.resident(true); peak > 40 && !raceEnabled {
		t.Errorf("the relay used %.1f MB", peak)
	}
}
