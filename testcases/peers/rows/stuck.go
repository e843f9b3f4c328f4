package rows

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// listeners record how long each title took to reach them.
type listeners struct {
	n      int
	wg     sync.WaitGroup
	mu     sync.Mutex
	delays []time.Duration
}

// stuck measures a hundred clients that read, alternating with and without a
// client that does not. Titles of 2 KB are published 500 times per second, in
// an open loop.
func stuck(e *Env) ([]figure.Figure, error) {
	host, err := e.start("host")
	if err != nil {
		return nil, err
	}
	l := &listeners{n: 100}
	e.Cleanup(l.wg.Wait)
	for i := range l.n {
		if err := l.join(e, host, fmt.Sprint("healthy", i)); err != nil {
			return nil, err
		}
	}
	p99 := figure.Figure{What: "p99 of 100 subscribers beside a stuck one", Unit: "µs", Peer: "all healthy", Target: figure.Target{AtMost: 1.2}}
	p50 := figure.Figure{What: "p50 of 100 subscribers beside a stuck one", Unit: "µs", Peer: "all healthy"}
	n := e.Pick(250, 150)
	if _, err := l.collect(host, n/4); err != nil { // warm
		return nil, err
	}
	for range e.Rounds(15) {
		alone, err := l.collect(host, n)
		if err != nil {
			return nil, err
		}
		conn, err := stick(e.Ctx, host)
		if err != nil {
			return nil, err
		}
		beside, err := l.collect(host, n)
		conn.Close(ws.CodeNormal, "")
		conn.Wait()
		if err != nil {
			return nil, err
		}
		p99.Ours, p99.Theirs = append(p99.Ours, figure.Quantile(beside, 0.99)), append(p99.Theirs, figure.Quantile(alone, 0.99))
		p50.Ours, p50.Theirs = append(p50.Ours, figure.Quantile(beside, 0.5)), append(p50.Theirs, figure.Quantile(alone, 0.5))
	}
	return []figure.Figure{p99, p50}, nil
}

func (l *listeners) join(e *Env, host *proc.Process, id string) error {
	c, _, err := sides.Dial(e.Ctx, host.Hello.Addr, host.Hello.Token, id, ws.DialOptions{}, host.Hello.Channel)
	if err != nil {
		return err
	}
	l.wg.Go(func() {
		for {
			msg, err := c.ReadMessage()
			if err != nil {
				return
			}
			l.note(string(msg), time.Now())
		}
	})
	e.Cleanup(func() { c.Close(ws.CodeNormal, "") })
	return nil
}

func (l *listeners) note(msg string, now time.Time) {
	_, rest, _ := strings.Cut(msg, `"title":"`)
	stamp, _, _ := strings.Cut(rest, " ")
	sent, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delays = append(l.delays, now.Sub(time.Unix(0, sent)))
}

// collect has n titles published and returns how long each took to each
// listener.
func (l *listeners) collect(host *proc.Process, n int) ([]time.Duration, error) {
	if _, err := host.Call(proc.Request{Do: "pace", N: n, Rate: 500, Size: 2000}); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		delays := l.delays
		if len(delays) == n*l.n {
			l.delays = nil
		}
		l.mu.Unlock()
		if len(delays) == n*l.n {
			return delays, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%d of %d titles arrived", len(delays), n*l.n)
		}
	}
}

// stick opens a connection that subscribes and then stops reading, with a
// buffer so small that the host notices.
func stick(ctx context.Context, host *proc.Process) (*ws.Conn, error) {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096)
		}
		return conn, err
	}
	c, _, err := sides.Dial(ctx, host.Hello.Addr, host.Hello.Token, "stuck", ws.DialOptions{NetDial: dial}, host.Hello.Channel)
	return c, err
}
