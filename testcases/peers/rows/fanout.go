package rows

import (
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

const subscribers = 1000

// bursts are the numbers of actions that are published before waiting for their
// arrival: a busy canvas, and an endless stream. The more actions wait for a
// connection, the fewer writes they need.
var bursts = []int{32, 256}

// audience is one side with its subscribers.
type audience struct {
	kind      string
	server    *proc.Process
	receivers *receivers
	arrived   int

	rates map[int][]float64 // deliveries per second, by burst
	costs map[int][]float64 // CPU time of the server per delivery in microseconds, by burst
}

// fanOut publishes bursts of actions of about 300 bytes; all sides send the
// same envelope. The receivers are in this process and only count.
func fanOut(e *Env) ([]figure.Figure, error) {
	var all []*audience
	for _, kind := range []string{"host", "centrifuge", "nats", "notify", "limit"} {
		a := &audience{kind: kind, receivers: newReceivers()}
		var err error
		if a.server, err = e.start(kind); err != nil {
			return nil, err
		}
		e.Cleanup(a.receivers.close)
		if err := a.receivers.join(e.Ctx, kind, a.server, subscribers, a.server.Hello.Channel); err != nil {
			return nil, err
		}
		if kind == "notify" || kind == "limit" { // the others have responded to a subscription
			if err := await(a.server, subscribers); err != nil {
				return nil, err
			}
		}
		if _, err := a.publish(1); err != nil { // warm
			return nil, err
		}
		a.rates, a.costs = map[int][]float64{}, map[int][]float64{}
		all = append(all, a)
	}
	length := time.Duration(e.Pick(500, 150)) * time.Millisecond
	for range e.Rounds(5) {
		for _, burst := range bursts {
			for _, a := range all {
				if err := a.last(length, burst); err != nil {
					return nil, err
				}
			}
		}
	}
	var figures []figure.Figure
	for _, burst := range bursts {
		figures = append(figures, fanOutFigures(all, burst)...)
	}
	return figures, nil
}

func fanOutFigures(all []*audience, burst int) (figures []figure.Figure) {
	ours := all[0]
	what := fmt.Sprintf("fan-out to 1,000, bursts of %d", burst)
	for i, peer := range []struct {
		name  string
		times float64
	}{{"centrifuge", 4}, {"nats-server core (TCP)", 3}, {"jsonrpc2 Notify", 80}, {"bare writes (limit)", 0}} {
		theirs := all[i+1]
		figures = append(figures,
			figure.Figure{What: what, Unit: "deliveries/s", Peer: peer.name, Ours: ours.rates[burst], Theirs: theirs.rates[burst], Target: figure.Target{AtLeast: peer.times}},
			figure.Figure{What: what + ", server's CPU", Unit: "µs/delivery", Peer: peer.name, Ours: ours.costs[burst], Theirs: theirs.costs[burst]})
	}
	return figures
}

// last publishes bursts for one turn's time.
func (a *audience) last(length time.Duration, burst int) error {
	size := burst
	if a.kind == "notify" {
		size = 4 // it writes messages one by one, so bursts make no difference
	}
	begun, n, used := time.Now(), 0, time.Duration(0)
	before, err := cpu(a.server)
	if err != nil {
		return err
	}
	for n == 0 || time.Since(begun) < length {
		if used, err = a.publish(size); err != nil {
			return err
		}
		n += size * subscribers
	}
	a.rates[burst] = append(a.rates[burst], float64(n)/time.Since(begun).Seconds())
	a.costs[burst] = append(a.costs[burst], float64((used-before).Nanoseconds())/1e3/float64(n))
	return nil
}

// publish publishes n actions, waits until all have arrived, and returns the
// CPU time of the server so far.
func (a *audience) publish(n int) (time.Duration, error) {
	if _, err := a.server.Call(proc.Request{Do: "publish", N: n}); err != nil {
		return 0, err
	}
	a.arrived += n * subscribers
	if err := a.receivers.wait(a.arrived); err != nil {
		return 0, fmt.Errorf("%s: %w", a.kind, err)
	}
	return cpu(a.server)
}
