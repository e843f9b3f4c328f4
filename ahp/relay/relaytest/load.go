package relaytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Load are clients that send requests to hosts through relays, each one request at a time,
// and what became of the requests.
type Load struct {
	t     testing.TB
	dial  func(host int) (*ws.Conn, error)
	think func() time.Duration // between an answer and the next request
	known func(err error) bool // whether a close says that the request did not reach the host
	done  map[string]int       // by request: how often a host did it
	last  []atomic.Int64       // by client: when it was last answered
	stop  context.CancelFunc
	ctx   context.Context
	wg    sync.WaitGroup
	mu    sync.Mutex // guards done

	answered, failed, crossed, lanes atomic.Int64
}

// NewLoad makes a load. Hosts serve lanes with [Load.Serve], and dial connects a client with
// a host. A client whose request fails with an error that is known not to have reached the
// host sends the request again.
func NewLoad(t testing.TB, dial func(host int) (*ws.Conn, error), think func() time.Duration, known func(err error) bool) *Load {
	ctx, stop := context.WithCancel(context.Background())
	return &Load{t: t, dial: dial, think: think, known: known, done: map[string]int{}, ctx: ctx, stop: stop}
}

// Start starts clients of some hosts, and returns once each client was answered.
func (l *Load) Start(hosts, clients int) {
	l.t.Helper()
	l.last = make([]atomic.Int64, clients)
	for i := range clients {
		l.wg.Go(func() { l.client(i, i%hosts) })
	}
	l.t.Cleanup(l.Stop)
	l.Back("at first", time.Now())
}

// Stop ends the clients and waits for them.
func (l *Load) Stop() {
	l.stop()
	l.wg.Wait()
}

// Serve serves the lane of a host: it does each request, counts it and answers.
func (l *Load) Serve(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) {
	defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "the host ends") })()
	for {
		m, err := c.ReadMessage()
		if err != nil {
			return
		}
		l.mu.Lock()
		l.done[string(m)]++
		l.mu.Unlock()
		pause(ctx, rand.N(10*time.Millisecond)) // a close can fall between a request and its answer
		if c.WriteBatch([][]byte{m}) != nil {
			return
		}
	}
}

// client sends requests until the load ends.
func (l *Load) client(i, host int) {
	n := 0
	for l.ctx.Err() == nil {
		c, err := l.dial(host)
		if err != nil {
			pause(l.ctx, 5*time.Millisecond)
			continue
		}
		l.lanes.Add(1)
		for l.ctx.Err() == nil && l.request(c, i, &n) {
			pause(l.ctx, l.think())
		}
		c.Close(ws.CodeNormal, "")
		c.Wait()
		pause(l.ctx, 5*time.Millisecond)
	}
}

// request sends the next request. It returns false if the lane has ended.
func (l *Load) request(c *ws.Conn, i int, n *int) bool {
	id := fmt.Sprintf("%d-%d", i, *n)
	got, err := Ask(c, id)
	switch {
	case err == nil && got == id:
		*n++
		l.answered.Add(1)
		l.last[i].Store(time.Now().UnixNano())
		return true
	case err == nil:
		l.t.Errorf("request %s got the answer %.40q", id, got)
	case l.known(err):
		l.crossed.Add(1) // the same request goes to the next lane
		return false
	default:
		*n++
		l.t.Logf("request %s failed: %v", id, err)
		l.failed.Add(1)
	}
	return false
}

// Ask sends a message and returns the next one.
func Ask(c *ws.Conn, text string) (string, error) {
	if err := c.WriteBatch([][]byte{[]byte(text)}); err != nil {
		return "", err
	}
	m, err := c.ReadMessage()
	return string(m), err
}

// Back waits until every client was answered after since, and returns how long each took, in
// order.
func (l *Load) Back(what string, since time.Time) (took []time.Duration) {
	l.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); ; <-tick.C {
		late := -1
		for i := range l.last {
			if l.last[i].Load() <= since.UnixNano() {
				late = i
			}
		}
		if late < 0 {
			break
		}
		if time.Now().After(end) {
			l.t.Fatalf("%s client %d is not answered", what, late)
		}
	}
	for i := range l.last {
		took = append(took, time.Duration(l.last[i].Load()-since.UnixNano()))
	}
	slices.Sort(took)
	return took
}

// Failed returns how many requests failed, so that their clients do not know whether a host
// did them.
func (l *Load) Failed() int { return int(l.failed.Load()) }

// Check checks, after Stop, that each answered request was done once, and each failed one at
// most once.
func (l *Load) Check() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, n := range l.done {
		if n != 1 {
			l.t.Errorf("request %s was done %d times", id, n)
		}
	}
	done, least := int64(len(l.done)), l.answered.Load()
	if most := least + l.failed.Load() + int64(len(l.last)); done < least || done > most {
		l.t.Errorf("%d requests were done, %d answered, %d failed", done, least, l.failed.Load())
	}
	l.t.Logf("%d requests answered, %d failed with an error, %d sent again because they crossed a close; %d lanes", least, l.failed.Load(), l.crossed.Load(), l.lanes.Load())
}

// NotJoined reports whether a lane ended before its client was joined with its host, so that
// nothing reached the host.
func NotJoined(err error) bool {
	code := ws.CodeOf(err)
	return code == relay.CodeHostOffline || code == ws.CodeTryLater || code == relay.CodeTooMany
}

// NotPassed reports whether a relay closed a lane without passing on what the client sent
// last: it turned the client away, or moved it to another edge while nothing was on its way.
// That holds for a client that waits for each answer, unless the time of a drain was up.
func NotPassed(err error) bool {
	return NotJoined(err) || ws.CodeOf(err) == ws.CodeGoingAway && strings.Contains(err.Error(), "the relay ")
}

// Quantiles describes durations.
func Quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration {
		return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s", at(0.5), at(0.99), at(1))
}

// pause waits, as a condition that only time fulfills.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
