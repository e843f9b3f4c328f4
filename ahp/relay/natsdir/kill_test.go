package natsdir

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

// load are clients that send requests to hosts, one at a time each, and what became of them.
type load struct {
	t     *testing.T
	f     *fleet
	think func() time.Duration // between an answer and the next request
	// known reports whether a close says that the request did not reach the host.
	known func(error) bool

	mu   sync.Mutex
	done map[string]int // by request: how often a host did it

	answered, failed, crossed, lanes atomic.Int64
	last                             []atomic.Int64 // by client: when it was last answered
	ctx                              context.Context
	wg                               sync.WaitGroup
}

// startLoad starts hosts and clients, and returns once each client was answered.
func startLoad(t *testing.T, f *fleet, hosts, clients int, think func() time.Duration, known func(error) bool) (l *load, stop func()) {
	l = &load{t: t, f: f, think: think, known: known, done: map[string]int{}, last: make([]atomic.Int64, clients)}
	for i := range hosts {
		startHost(t, f, fmt.Sprint("host-", i), -1, relay.UplinkOptions{Serve: l.serve})
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.ctx = ctx
	for i := range clients {
		l.wg.Go(func() { l.client(i, fmt.Sprint("host-", i%hosts)) })
	}
	l.back("at first", time.Now())
	return l, func() { cancel(); l.wg.Wait() }
}

// serve does requests: it counts each.
func (l *load) serve(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) {
	defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "the host ends") })()
	for {
		m, err := c.ReadMessage()
		if err != nil {
			return
		}
		l.mu.Lock()
		l.done[string(m)]++
		l.mu.Unlock()
		after(ctx, rand.N(10*time.Millisecond)) // a close can fall between a request and its answer
		if c.WriteBatch([][]byte{m}) != nil {
			return
		}
	}
}

// client sends requests until the load ends. It sends one again only if it knows that the
// host did not get it.
func (l *load) client(i int, host string) {
	n := 0
	for l.ctx.Err() == nil {
		c, err := tryClient(l.f, host, -1)
		if err != nil {
			after(l.ctx, 5*time.Millisecond)
			continue
		}
		l.lanes.Add(1)
		for l.ctx.Err() == nil && l.request(c, i, &n) {
			after(l.ctx, l.think())
		}
		c.Close(ws.CodeNormal, "")
		c.Wait()
		after(l.ctx, 5*time.Millisecond)
	}
}

// request sends the next request. It returns false if the lane has ended.
func (l *load) request(c *ws.Conn, i int, n *int) bool {
	id := fmt.Sprintf("%d-%d", i, *n)
	got, err := ask(c, id)
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
		l.failed.Add(1)
		l.mu.Lock()
		l.done[id+" failed"]++
		l.mu.Unlock()
	}
	return false
}

// back waits until every client was answered by a request that it sent after since, and
// returns how long each took, in order.
func (l *load) back(what string, since time.Time) (took []time.Duration) {
	l.t.Helper()
	eventually(l.t, what+" every client is answered", func() bool {
		for i := range l.last {
			if l.last[i].Load() <= since.UnixNano() {
				return false
			}
		}
		return true
	})
	for i := range l.last {
		took = append(took, time.Duration(l.last[i].Load()-since.UnixNano()))
	}
	slices.Sort(took)
	return took
}

// check checks that each answered request was done once, and each failed one at most once.
func (l *load) check() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	done := 0
	for id, n := range l.done {
		if strings.HasSuffix(id, " failed") {
			continue
		}
		done++
		if n != 1 {
			l.t.Errorf("request %s was done %d times", id, n)
		}
	}
	if min, max := l.answered.Load(), l.answered.Load()+l.failed.Load()+int64(len(l.last)); int64(done) < min || int64(done) > max {
		l.t.Errorf("%d requests were done, %d answered, %d failed", done, l.answered.Load(), l.failed.Load())
	}
	l.t.Logf("%d requests answered, %d failed with an error, %d sent again because they crossed a close; %d lanes", l.answered.Load(), l.failed.Load(), l.crossed.Load(), l.lanes.Load())
}

// notJoined reports whether a lane ended before its client was joined with its host.
func notJoined(err error) bool {
	code := ws.CodeOf(err)
	return code == relay.CodeHostOffline || code == ws.CodeTryLater || code == relay.CodeTooMany
}

func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration {
		return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s", at(0.5), at(0.99), at(1))
}

// Edges and NATS servers are killed while clients send requests: each request is done
// once, or ends with an error and was done at most once.
func TestKills(t *testing.T) {
	if !long { // figures are taken alone
		t.Parallel()
	}
	edges, servers, hosts, clients := 5, 2, 6, 30
	if long {
		edges, servers, hosts, clients = 50, 20, 30, 300
	}
	c := startCluster(t, 3)
	f := startFleet(t, c, 3, Options{}, 10*time.Second)
	think := func() time.Duration { return rand.N(20 * time.Millisecond) }
	l, stop := startLoad(t, f, hosts, clients, think, notJoined)
	var afterEdge, afterServer []time.Duration
	for range edges {
		i := rand.N(len(f.edges))
		f.kill(i)
		after(t.Context(), rand.N(300*time.Millisecond))
		f.start(i, 10*time.Second)
		afterEdge = append(afterEdge, l.back("after a kill of an edge,", time.Now())...)
		f.formed()
	}
	for range servers {
		i := rand.N(len(c.servers))
		c.stop(i)
		after(t.Context(), rand.N(300*time.Millisecond))
		c.start(i)
		afterServer = append(afterServer, l.back("after a kill of a NATS server,", time.Now())...)
		c.formed()
		f.formed()
	}
	stop()
	t.Logf("after the restart of an edge clients were answered: %s", quantiles(afterEdge))
	t.Logf("after the restart of a NATS server clients were answered: %s", quantiles(afterServer))
	l.check()
}

// Three edges are restarted one after the other under load. No request is lost, none is
// done twice, and none fails: one that crosses the close of its lane was not forwarded, and its
// client sends it again.
func TestRollingRestart(t *testing.T) {
	if !long { // figures are taken alone
		t.Parallel()
	}
	hosts, clients, rounds := 6, 30, 1
	if long {
		hosts, clients, rounds = 30, 300, 3
	}
	f := startFleet(t, startCluster(t, 3), 3, Options{}, 10*time.Second)
	think := func() time.Duration {
		return []time.Duration{0, rand.N(20 * time.Millisecond), rand.N(900 * time.Millisecond)}[rand.N(3)]
	}
	l, stop := startLoad(t, f, hosts, clients, think, func(err error) bool {
		// An edge that drains says that it is shutting down only to those whom it turns away,
		// unless its time is up, which this test does not let happen.
		return notJoined(err) || ws.CodeOf(err) == ws.CodeGoingAway && strings.Contains(err.Error(), "the relay ")
	})
	for range rounds {
		for i := range f.edges {
			began := time.Now()
			f.drain(i, 50*time.Second)
			if d := time.Since(began); d >= 50*time.Second {
				t.Errorf("edge %d did not drain", i)
			}
			f.start(i, 10*time.Second)
			f.formed()
			l.back("after a restart", time.Now())
		}
	}
	stop()
	if n := l.failed.Load(); n != 0 {
		t.Errorf("%d requests failed", n)
	}
	l.check()
}

// Lanes across edges against lanes at one edge, in one run.
func TestLaneOpening(t *testing.T) {
	n := 40
	if long {
		n = 1000
	}
	f := startFleet(t, startCluster(t, 3), 3, Options{}, 10*time.Second)
	startHost(t, f, "laptop", 0, relay.UplinkOptions{})
	f.registered("laptop", 0)
	took := [2][]time.Duration{}
	var trips []time.Duration
	for i := range n {
		for at := range 2 {
			began := time.Now()
			c, err := tryClient(f, "laptop", at*(1+i%2))
			if err != nil {
				t.Fatal(err)
			}
			wantAnswer(t, c, "laptop", "hello")
			took[at] = append(took[at], time.Since(began))
			c.Close(ws.CodeNormal, "")
			c.Wait()
		}
		began := time.Now()
		if _, err := f.edges[1].dir.nc.Request("ahp-relay.host."+key("laptop"), []byte("no offer"), time.Minute); err != nil {
			t.Fatal(err)
		}
		trips = append(trips, time.Since(began))
	}
	t.Logf("%d lanes at one edge: %s", n, quantiles(took[0]))
	t.Logf("%d lanes across edges: %s", n, quantiles(took[1]))
	t.Logf("%d round trips of NATS: %s", n, quantiles(trips))
}
