package rows

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// durableOpen opens canvases of an in-process provider in a host with a store,
// against appending 300 bytes to a file of the same folder and syncing it: with one
// caller, and with 64. Those open what a session may have in 4 ms, and a third of that
// is their coming and going; so they go on through 16 sessions.
// "That rate" of the target is read as the harder one, the rate of syncs; the ratio
// to the rate of one caller is printed beside it.
func durableOpen(e *Env) ([]figure.Figure, error) {
	dir, err := e.tempDir()
	if err != nil {
		return nil, err
	}
	host, err := e.start("host-store", sides.StoreDir+"="+dir)
	if err != nil {
		return nil, err
	}
	if _, err := host.Ask(proc.Ask{Do: "sessions", N: 15}); err != nil {
		return nil, err
	}
	ways := []struct {
		ask proc.Ask
		n   int
	}{
		{proc.Ask{Do: "durable", Name: "sync"}, e.Pick(200, 50)},
		{proc.Ask{Do: "durable", Name: "open", Size: 1}, e.Pick(200, 50)},
		{proc.Ask{Do: "durable", Name: "open", Size: 64}, e.Pick(3840, 960)},
	}
	each, rates := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := range e.Rounds(9) + 1 {
		for i, w := range ways {
			w.ask.N = w.n
			a, err := host.Ask(w.ask)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				continue // warm
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
