package rows

import (
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// pair is a host that calls and a client that answers, each in its own process,
// with the costs of the calls.
type pair struct {
	name string
	end  *proc.Process // the client

	alone, several *proc.Process // hosts for one call at a time, and for 16

	cpuMany, rate, open50, open99 []float64
	free, together, apart         alone
}

// alone has the cost of one call at a time, for one placement of the two ends.
//
// If the kernel places them, the bare side is in one of two states for a whole
// turn: of 48 turns, 41 had a median call of 15 to 30 µs, as with both ends on
// one core, seven had 55 to 80 µs, as with a core each, and none were in
// between. Ours wakes a second thread of the host for each response, so the
// kernel moves the ends apart and together again: 30 to 120 µs. The ratio of
// such turns depends on the placement. So the row measures both fixed
// placements, compares each with itself, and reports the free placement without
// a target.
type alone struct{ cpu, p50 []float64 }

// calls compares a call from host to client. Both ends use the same library,
// each in its own process.
func calls(e *Env) ([]figure.Figure, error) {
	pairs, err := measure(e)
	if err != nil {
		return nil, err
	}
	ours := pairs[0]
	figures := besideBare(ours, pairs[1])
	for i, name := range []string{"x/exp/jsonrpc2", "creachadair/jrpc2", "MCP go-sdk", "jsonrpc2 stock"} {
		other := pairs[i+2]
		figures = append(figures,
			figure.Figure{What: "CPU of both ends, one call at a time", Unit: "µs/call", Peer: name, Ours: ours.free.cpu, Theirs: other.free.cpu, Target: figure.Target{AtMost: 1}},
			figure.Figure{What: "throughput, 16 in flight", Unit: "calls/s", Peer: name, Ours: ours.rate, Theirs: other.rate, Target: figure.Target{AtLeast: 1}})
	}
	return figures, nil
}

// measure lets each pair take its turns: ours, the bare WebSocket, and the
// other libraries.
func measure(e *Env) (pairs []*pair, err error) {
	for _, name := range []string{"peer", "bare", "xexp", "jrpc2", "mcp", "stock"} {
		p := &pair{name: name}
		if err := p.begin(e); err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	for range e.Rounds(5) {
		for _, p := range pairs {
			if err := p.turn(e); err != nil {
				return nil, err
			}
		}
	}
	return pairs, nil
}

// besideBare compares ours with the bare WebSocket, for each placement.
func besideBare(ours, limit *pair) []figure.Figure {
	const bare = "bare WebSocket"
	figures := []figure.Figure{
		{What: "CPU of both ends, 16 in flight", Unit: "µs/call", Peer: bare, Ours: ours.cpuMany, Theirs: limit.cpuMany, Target: figure.Target{AtMost: 1.8}},
		{What: "throughput, 16 in flight", Unit: "calls/s", Peer: bare, Ours: ours.rate, Theirs: limit.rate, Target: figure.Target{AtLeast: 0.55}},
		{What: "p50, open loop of 1,000 calls/s", Unit: "µs", Peer: bare, Ours: ours.open50, Theirs: limit.open50, Target: figure.Target{AtMost: 2.4}},
		{What: "p99, open loop of 1,000 calls/s", Unit: "µs", Peer: bare, Ours: ours.open99, Theirs: limit.open99},
	}
	for _, a := range []struct {
		where        string
		ours, theirs alone
		cpu, p50     figure.Target
	}{
		{", ends on one core", ours.together, limit.together, figure.Target{AtMost: 1.8}, figure.Target{AtMost: 2.4}},
		{", ends on a core each", ours.apart, limit.apart, figure.Target{AtMost: 1.8}, figure.Target{AtMost: 2.4}},
		{", ends anywhere", ours.free, limit.free, figure.Target{}, figure.Target{}},
	} {
		figures = append(figures,
			figure.Figure{What: "CPU of both ends, one call at a time" + a.where, Unit: "µs/call", Peer: bare, Ours: a.ours.cpu, Theirs: a.theirs.cpu, Target: a.cpu},
			figure.Figure{What: "p50, one call at a time" + a.where, Unit: "µs", Peer: bare, Ours: a.ours.p50, Theirs: a.theirs.p50, Target: a.p50})
	}
	return figures
}

// begin connects two pairs of processes of one library. One is for calls one at
// a time and the other for concurrent calls, because the bare side reads
// differently for these.
func (p *pair) begin(e *Env) (err error) {
	if p.end, err = e.start("answer-" + p.name); err != nil {
		return err
	}
	for _, host := range []**proc.Process{&p.alone, &p.several} {
		if *host, err = e.start("call-" + p.name); err != nil {
			return err
		}
		if _, err = p.end.Call(proc.Request{Do: "dial", Addr: (*host).Hello.Addr}); err != nil {
			return err
		}
		if _, err = (*host).Call(proc.Request{Do: "accept"}); err != nil {
			return err
		}
	}
	// Warm up, so that each process has allocated what it needs.
	if _, err = p.alone.Call(proc.Request{Do: "flight", N: e.Pick(2000, 200), Size: 1}); err != nil {
		return err
	}
	_, err = p.several.Call(proc.Request{Do: "flight", N: e.Pick(3200, 800), Size: 16})
	return err
}

func (p *pair) turn(e *Env) error {
	if err := p.one(e, &p.free, proc.AnyCore, proc.AnyCore); err != nil {
		return err
	}
	n := e.Pick(16000, 1600)
	if p.name == "mcp" {
		n /= 8
	}
	many, used, err := p.measured(p.several, proc.Request{Do: "flight", N: n, Size: 16})
	if err != nil {
		return err
	}
	p.cpuMany = append(p.cpuMany, used/float64(n))
	p.rate = append(p.rate, float64(n)/many.Took.Seconds())
	if p.name != "peer" && p.name != "bare" {
		return nil
	}
	if err := errors.Join(p.one(e, &p.together, 0, 0), p.one(e, &p.apart, 0, 1)); err != nil {
		return err
	}
	open, _, err := p.measured(p.several, proc.Request{Do: "pace", N: e.Pick(700, 100), Rate: 1000})
	p.open50 = append(p.open50, figure.Quantile(open.Times, 0.5))
	p.open99 = append(p.open99, figure.Quantile(open.Times, 0.99))
	return err
}

// one makes calls one at a time while the two ends are pinned to cores.
func (p *pair) one(e *Env, a *alone, host, client int) error {
	if err := errors.Join(p.alone.Pin(host), p.end.Pin(client)); err != nil {
		return err
	}
	n := e.Pick(3000, 500)
	one, used, err := p.measured(p.alone, proc.Request{Do: "flight", N: n, Size: 1})
	a.cpu = append(a.cpu, used/float64(n))
	a.p50 = append(a.p50, figure.Quantile(one.Times, 0.5))
	return errors.Join(err, p.alone.Pin(proc.AnyCore), p.end.Pin(proc.AnyCore))
}

// measured sends a request to a host and returns the CPU time that both ends
// used for it, in microseconds.
func (p *pair) measured(host *proc.Process, req proc.Request) (proc.Response, float64, error) {
	before, err := p.used(host)
	if err != nil {
		return proc.Response{}, 0, err
	}
	a, err := host.Call(req)
	if err != nil {
		return a, 0, err
	}
	after, err := p.used(host)
	return a, float64((after - before).Nanoseconds()) / 1e3, err
}

func (p *pair) used(host *proc.Process) (time.Duration, error) {
	a, err := cpu(host)
	if err != nil {
		return 0, err
	}
	b, err := cpu(p.end)
	return a + b, err
}
