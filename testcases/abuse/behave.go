package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// behaveEnv makes the program the client that behaves: it has the host's address and
// token.
const behaveEnv = "AHP_ABUSE_BEHAVE"

// latency is what the client that behaves met.
type latency struct {
	Took   []time.Duration // sorted
	Failed int
	Why    string
}

// p99 is the latency that one of a hundred dispatches exceeds.
func (l latency) p99() time.Duration {
	if len(l.Took) == 0 {
		return 0
	}
	return l.Took[len(l.Took)*99/100]
}

// behaving is the process of the client that behaves.
type behaving struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// behave starts the client that behaves, and waits until it is connected.
func behave(ctx context.Context, t *target) (*behaving, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	at, err := json.Marshal([]string{t.url, t.token})
	if err != nil {
		return nil, err
	}
	b := &behaving{process: exec.CommandContext(ctx, self)}
	b.process.Env = append(os.Environ(), behaveEnv+"="+string(at))
	b.process.Stderr = os.Stderr
	if b.in, err = b.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	if err := b.process.Start(); err != nil {
		return nil, err
	}
	if _, err := b.out.ReadString('\n'); err != nil {
		b.stop()
		return nil, errors.New("the client that behaves could not connect")
	}
	return b, nil
}

// watch returns what the client meets in the given time.
func (b *behaving) watch(ctx context.Context, d time.Duration) (l latency, err error) {
	if err := b.ask(&latency{}); err != nil { // discards what it met before
		return l, err
	}
	wait(ctx, d)
	return l, b.ask(&l)
}

// ask reads what the client has met since the last time.
func (b *behaving) ask(l *latency) error {
	if _, err := fmt.Fprintln(b.in); err != nil {
		return err
	}
	line, err := b.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, l)
}

func (b *behaving) stop() {
	_ = b.in.Close()
	_ = b.process.Wait()
}

// quietSession is the session of the client that behaves.
const quietSession = "ahp-session:/abuse-quiet"

// person is the client that behaves. It has a separate session, in which it changes
// the title a hundred times a second, and it lists the sessions every second.
type person struct {
	t *target

	mu     sync.Mutex
	took   []time.Duration
	failed int
	why    string
	sent   map[int64]time.Time
}

// behaveMain is the process of the client that behaves. It reports whenever it reads
// a line.
func behaveMain() int {
	var at []string
	if json.Unmarshal([]byte(os.Getenv(behaveEnv)), &at) != nil || len(at) != 2 {
		return 2
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := &person{t: &target{url: at[0], token: at[1]}, sent: map[int64]time.Time{}}
	var wg sync.WaitGroup
	ready := make(chan struct{})
	wg.Go(func() { p.run(ctx, sync.OnceFunc(func() { close(ready) })) })
	select {
	case <-ready:
		fmt.Println("ready")
	case <-time.After(10 * time.Second):
		fmt.Fprintln(os.Stderr, "the client that behaves cannot work:", p.report().Why)
		return 1
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		b, err := json.Marshal(p.report())
		if err != nil {
			return 1
		}
		fmt.Println(string(b))
	}
	cancel()
	wg.Wait()
	return 0
}

// run connects, and again if the connection is lost.
func (p *person) run(ctx context.Context, ready func()) {
	for ctx.Err() == nil {
		if err := p.live(ctx, ready); err != nil && ctx.Err() == nil {
			p.fail(err)
			pause(ctx)
		}
	}
}

func (p *person) live(ctx context.Context, ready func()) error {
	c, err := p.t.join(ctx, "abuse-person", false)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	// The session is left from an earlier connection, perhaps.
	_, _ = c.call("createSession", map[string]any{"channel": quietSession})
	if _, err := c.call("subscribe", map[string]any{"channel": quietSession}); err != nil {
		return err
	}
	ready()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { p.send(ctx, c) })
	err = p.receive(c)
	cancel()
	return err
}

// send sends a dispatch every ten milliseconds, whether or not earlier ones have
// returned.
func (p *person) send(ctx context.Context, c *conn) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		p.sent[c.seq.Load()+1] = time.Now()
		p.mu.Unlock()
		_, err := c.dispatch(quietSession, map[string]any{"type": "session/titleChanged", "title": fmt.Sprint("title ", n)})
		if err == nil && n%100 == 50 {
			_, err = c.request("listSessions", map[string]any{"channel": "ahp-root://"})
		}
		if err != nil {
			return
		}
	}
}

// receive measures echoes until the connection ends.
func (p *person) receive(c *conn) error {
	for {
		m, err := c.read()
		if err != nil {
			return err
		}
		o := m.Params.Origin
		switch {
		case m.Error != nil:
			p.fail(errors.New(m.Error.Message))
		case o == nil || o.ClientID != c.id:
		case m.Params.RejectionReason != "":
			p.fail(errors.New(m.Params.RejectionReason))
		default:
			p.echoed(o.ClientSeq)
		}
	}
}

func (p *person) echoed(seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.sent[seq]; ok {
		p.took = append(p.took, time.Since(at))
		delete(p.sent, seq)
	}
}

func (p *person) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	p.why = err.Error()
	clear(p.sent)
}

// report returns what the client met since the last report. A dispatch without an echo
// counts with the time that it has waited.
func (p *person) report() latency {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.sent {
		p.took = append(p.took, time.Since(at))
	}
	l := latency{Took: p.took, Failed: p.failed, Why: p.why}
	slices.Sort(l.Took)
	p.took, p.failed, p.why = nil, 0, ""
	return l
}
