package rows

import (
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// pair is a host that calls and a client that answers, a process each, and what
// its calls cost.
type pair struct {
	name string
	end  *proc.Process // the client

	alone, several *proc.Process // the hosts of one call at a time, and of 16

	cpuOne, cpuMany, rate, p50, open50, open99 []float64
	cpuCore, p50Core                           []float64 // one call at a time, both ends on one core
}

// calls compares a call of the host and its answer by the client: both ends use
// the same library, in a process each.
func calls(e *Env) ([]figure.Figure, error) {
	var pairs []*pair
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
	ours, limit := pairs[0], pairs[1]
	bare := "bare WebSocket"
	figures := []figure.Figure{
		{What: "CPU of both ends, one call at a time", Unit: "µs/call", Peer: bare, Ours: ours.cpuOne, Theirs: limit.cpuOne, Target: figure.Target{AtMost: 1.8}},
		{What: "CPU of both ends, 16 in flight", Unit: "µs/call", Peer: bare, Ours: ours.cpuMany, Theirs: limit.cpuMany, Target: figure.Target{AtMost: 1.8}},
		{What: "throughput, 16 in flight", Unit: "calls/s", Peer: bare, Ours: ours.rate, Theirs: limit.rate, Target: figure.Target{AtLeast: 0.55}},
		{What: "p50, one call at a time", Unit: "µs", Peer: bare, Ours: ours.p50, Theirs: limit.p50, Target: figure.Target{AtMost: 2.4}},
		{What: "CPU of both ends, one call at a time on one core", Unit: "µs/call", Peer: bare, Ours: ours.cpuCore, Theirs: limit.cpuCore, Target: figure.Target{AtMost: 1.8}},
		{What: "p50, one call at a time on one core", Unit: "µs", Peer: bare, Ours: ours.p50Core, Theirs: limit.p50Core, Target: figure.Target{AtMost: 2.4}},
		{What: "p50, open loop of 1,000 calls/s", Unit: "µs", Peer: bare, Ours: ours.open50, Theirs: limit.open50, Target: figure.Target{AtMost: 2.4}},
		{What: "p99, open loop of 1,000 calls/s", Unit: "µs", Peer: bare, Ours: ours.open99, Theirs: limit.open99},
	}
	for i, name := range []string{"x/exp/jsonrpc2", "creachadair/jrpc2", "MCP go-sdk", "jsonrpc2 stock"} {
		other := pairs[i+2]
		figures = append(figures,
			figure.Figure{What: "CPU of both ends, one call at a time", Unit: "µs/call", Peer: name, Ours: ours.cpuOne, Theirs: other.cpuOne, Target: figure.Target{AtMost: 1}},
			figure.Figure{What: "throughput, 16 in flight", Unit: "calls/s", Peer: name, Ours: ours.rate, Theirs: other.rate, Target: figure.Target{AtLeast: 1}})
	}
	return figures, nil
}

// begin connects two pairs of processes of one library: what was used for calls
// one at a time is not used for several, because the bare side reads otherwise.
func (p *pair) begin(e *Env) (err error) {
	if p.end, err = e.start("answer-" + p.name); err != nil {
		return err
	}
	for _, host := range []**proc.Process{&p.alone, &p.several} {
		if *host, err = e.start("call-" + p.name); err != nil {
			return err
		}
		if _, err = p.end.Ask(proc.Ask{Do: "dial", Addr: (*host).Hello.Addr}); err != nil {
			return err
		}
		if _, err = (*host).Ask(proc.Ask{Do: "accept"}); err != nil {
			return err
		}
	}
	// Warm: each process has used the memory that it is going to use.
	if _, err = p.alone.Ask(proc.Ask{Do: "flight", N: e.Pick(2000, 200), Size: 1}); err != nil {
		return err
	}
	_, err = p.several.Ask(proc.Ask{Do: "flight", N: e.Pick(3200, 800), Size: 16})
	return err
}

func (p *pair) turn(e *Env) error {
	n := e.Pick(3000, 500)
	one, used, err := p.measured(p.alone, proc.Ask{Do: "flight", N: n, Size: 1})
	if err != nil {
		return err
	}
	p.cpuOne = append(p.cpuOne, used/float64(n))
	p.p50 = append(p.p50, figure.Quantile(one.Times, 0.5))
	n = e.Pick(16000, 1600)
	if p.name == "mcp" {
		n /= 8
	}
	many, used, err := p.measured(p.several, proc.Ask{Do: "flight", N: n, Size: 16})
	if err != nil {
		return err
	}
	p.cpuMany = append(p.cpuMany, used/float64(n))
	p.rate = append(p.rate, float64(n)/many.Took.Seconds())
	if p.name != "peer" && p.name != "bare" {
		return nil
	}
	if err := p.oneCore(e); err != nil {
		return err
	}
	open, _, err := p.measured(p.several, proc.Ask{Do: "pace", N: e.Pick(700, 100), Rate: 1000})
	p.open50 = append(p.open50, figure.Quantile(open.Times, 0.5))
	p.open99 = append(p.open99, figure.Quantile(open.Times, 0.99))
	return err
}

// oneCore makes calls one at a time where both ends share a processor. On several
// the bare side is fast or slow by where the kernel put the two; here nothing but
// the work differs.
func (p *pair) oneCore(e *Env) error {
	for _, end := range []*proc.Process{p.alone, p.end} {
		if err := end.OneCore(true); err != nil {
			return err
		}
	}
	n := e.Pick(3000, 500)
	one, used, err := p.measured(p.alone, proc.Ask{Do: "flight", N: n, Size: 1})
	p.cpuCore = append(p.cpuCore, used/float64(n))
	p.p50Core = append(p.p50Core, figure.Quantile(one.Times, 0.5))
	return errors.Join(err, p.alone.OneCore(false), p.end.OneCore(false))
}

// measured asks a host, and returns what both ends used for it in microseconds.
func (p *pair) measured(host *proc.Process, ask proc.Ask) (proc.Answer, float64, error) {
	before, err := p.used(host)
	if err != nil {
		return proc.Answer{}, 0, err
	}
	a, err := host.Ask(ask)
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
