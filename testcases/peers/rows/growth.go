package rows

import (
	"errors"
	"fmt"
	"math"
	"net"
	"syscall"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// growthSubscribers is the number of subscribers to the session with the
// actions.
const growthSubscribers = 10

// growth publishes the same actions to ten subscribers in hosts that hold 10,
// 100, ... sessions, and then idle connections. The ratio is the cost with the
// most over the cost with ten. The slope is that of the cost over the
// logarithm, which is the cost that ten times as many add.
func growth(e *Env) ([]figure.Figure, error) {
	most := e.Pick(10000, 1000)
	if open := files(); open < most+2000 {
		most = 1000
		e.Log("  growth stops at %d, because at most %d files may be open\n", most, open)
	}
	bySessions, err := grow(e, "sessions", most)
	if err != nil {
		return nil, err
	}
	byConnections, err := grow(e, "idle connections", most)
	return append(bySessions, byConnections...), err
}

func files() int {
	var l syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return int(min(l.Cur, math.MaxInt32))
}

func grow(e *Env, what string, most int) ([]figure.Figure, error) {
	defer e.Close()
	var hosts []*growing
	for n := 10; n <= most; n *= 10 {
		g, err := begin(e, what, n)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, g)
	}
	var x, y []float64
	for range e.Rounds(9) {
		for i, cost := range takeTurns(hosts, e.Pick(growthTurns, 2)) {
			if cost.err != nil {
				return nil, cost.err
			}
			g := hosts[i]
			g.costs = append(g.costs, cost.micros)
			x, y = append(x, math.Log10(float64(g.n))), append(y, cost.micros)
		}
	}
	least, last := hosts[0], hosts[len(hosts)-1]
	return []figure.Figure{{
		What: fmt.Sprintf("CPU of an action to %d subscribers, %d %s", growthSubscribers, last.n, what), Unit: "µs", Peer: fmt.Sprint(least.n, " ", what),
		Ours: last.costs, Theirs: least.costs, Target: figure.Target{AtMost: 1.2},
		Note: fmt.Sprintf("slope %+.2f µs for ten times as many", slope(x, y)),
	}}, nil
}

// growthTurns is the number of turns of 500 actions in one value. The hosts
// alternate, so other programs on the machine affect all of them alike, and a
// value is the CPU time of 5,000 actions.
const growthTurns = 10

type actionCost struct {
	micros float64 // CPU time per action
	err    error
}

// takeTurns lets the hosts publish in turns, and returns each host's cost per
// action.
func takeTurns(hosts []*growing, turns int) []actionCost {
	costs := make([]actionCost, len(hosts))
	for range turns {
		for i, g := range hosts {
			cost, err := g.act(500)
			costs[i].micros += cost / float64(turns)
			costs[i].err = errors.Join(costs[i].err, err)
		}
	}
	return costs
}

// begin starts a host with n sessions or connections, and ten subscribers.
func begin(e *Env, what string, n int) (*growing, error) {
	g := &growing{n: n, receivers: newReceivers()}
	var err error
	if g.host, err = e.start("host"); err != nil {
		return nil, err
	}
	e.Cleanup(g.receivers.close)
	e.Cleanup(func() {
		for _, c := range g.idle {
			_ = c.Close()
		}
	})
	if err := g.receivers.join(e.Ctx, "host", g.host, growthSubscribers, g.host.Hello.Channel); err != nil {
		return nil, err
	}
	if err := g.reach(e, what, n); err != nil {
		return nil, err
	}
	_, err = g.act(2000) // warm
	return g, err
}

// growing is a host of one size.
type growing struct {
	n         int
	costs     []float64 // CPU time per action in microseconds
	host      *proc.Process
	receivers *receivers
	idle      []net.Conn
	arrived   int
}

// reach creates n sessions, or n idle connections, each subscribed to one of
// 100 sessions.
func (g *growing) reach(e *Env, what string, n int) error {
	if what == "sessions" {
		_, err := g.host.Call(proc.Request{Do: "sessions", N: n})
		return err
	}
	if _, err := g.host.Call(proc.Request{Do: "sessions", N: 100}); err != nil {
		return err
	}
	for len(g.idle) < n {
		conn, err := dialHost(e.Ctx, g.host, fmt.Sprint("idle", len(g.idle)), sides.SessionURI(len(g.idle)%100))
		if err != nil {
			return err
		}
		g.idle = append(g.idle, conn)
	}
	return nil
}

// act publishes n actions in bursts and returns the host's CPU time for one,
// including its ten deliveries, in microseconds.
func (g *growing) act(n int) (float64, error) {
	before, err := cpu(g.host)
	if err != nil {
		return 0, err
	}
	for range n / 100 {
		if _, err := g.host.Call(proc.Request{Do: "publish", N: 100}); err != nil {
			return 0, err
		}
		g.arrived += 100 * growthSubscribers
		if err := g.receivers.wait(g.arrived); err != nil {
			return 0, err
		}
	}
	after, err := cpu(g.host)
	return float64((after - before).Nanoseconds()) / 1e3 / float64(n), err
}

// slope returns the slope of the least-squares line.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
