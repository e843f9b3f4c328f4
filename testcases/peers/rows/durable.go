package rows

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// durableOpen opens canvases of an in-process provider in a host with a store,
// and compares that with appending 300 bytes to a file in the same folder and
// syncing it. It does so with one caller and with 64. Those 64 fill a session
// in 4 ms, of which a third is starting and stopping the callers, so they use
// 16 sessions. The target is relative to the rate of syncs; the ratio to the
// rate of one caller is reported without a target.
func durableOpen(e *Env) ([]figure.Figure, error) {
	dir, err := e.tempDir()
	if err != nil {
		return nil, err
	}
	host, err := e.start("host-store", sides.StoreDir+"="+dir)
	if err != nil {
		return nil, err
	}
	if _, err := host.Call(proc.Request{Do: "sessions", N: 15}); err != nil {
		return nil, err
	}
	ways := []struct {
		req proc.Request
		n   int
	}{
		{proc.Request{Do: "durable", Name: "sync"}, e.Pick(200, 50)},
		{proc.Request{Do: "durable", Name: "open", Size: 1}, e.Pick(200, 50)},
		{proc.Request{Do: "durable", Name: "open", Size: 64}, e.Pick(3840, 960)},
	}
	each, rates := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range e.Rounds(9) + 1 {
		for i, w := range ways {
			w.req.N = w.n
			a, err := host.Call(w.req)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				continue // warm-up
			}
			each[i] = append(each[i], float64(a.Took)/float64(time.Microsecond)/float64(w.n))
			rates[i] = append(rates[i], float64(w.n)/a.Took.Seconds())
		}
	}
	return []figure.Figure{
		{What: "durable open, one caller", Unit: "µs", Peer: "one fsync", Ours: each[1], Theirs: each[0], Target: figure.Target{AtMost: 1.5}},
		{What: "durable open, 64 callers", Unit: "opens/s", Peer: "fsyncs one after the other", Ours: rates[2], Theirs: rates[0], Target: figure.Target{AtLeast: 20}},
		{What: "durable open, 64 callers", Unit: "opens/s", Peer: "opens by one caller", Ours: rates[2], Theirs: rates[1]},
	}, nil
}
