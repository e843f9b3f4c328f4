package web

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: as many new connections as the limit are worked on at a time. The next one waits
// until one has ended its first request, or until the oldest has had its time.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		limit := maxYoung * runtime.GOMAXPROCS(0)
		var young []*youngConn
		begun := time.Now()
		for range limit {
			young = append(young, p.enter())
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("the first %d waited %s", limit, took)
		}
		go func() {
			time.Sleep(youth / 4)
			p.leave(young[limit-1])
			p.leave(young[limit-1]) // once counts
		}()
		p.enter()
		if took := time.Since(begun); took != youth/4 {
			t.Errorf("the next one waited %s for one that ended after %s", took, youth/4)
		}
		p.enter()
		if took := time.Since(begun); took != youth {
			t.Errorf("those that send nothing held up the next one for %s", took)
		}
		p.leave(nil) // a connection that was not counted
		if n := p.young.Len(); n != limit {
			t.Errorf("%d are young, the limit is %d", n, limit)
		}
	})
}
