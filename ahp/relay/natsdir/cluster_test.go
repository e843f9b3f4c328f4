package natsdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

func TestMain(m *testing.M) {
	// Edges of a fleet write errors of killed connections to their logs; servers of NATS
	// write nothing.
	ahptest.VerifyNoLeaks(m)
}

// long reports whether the long forms run.
var long = os.Getenv("AHP_LONG") != ""

// cluster are NATS servers in this process that know each other.
type cluster struct {
	t       testing.TB
	options []*server.Options
	mu      sync.Mutex
	servers []*server.Server
}

// startCluster starts n servers on loopback.
func startCluster(t testing.TB, n int) *cluster {
	t.Helper()
	c := &cluster{t: t, servers: make([]*server.Server, n)}
	var routes []*url.URL
	for range n {
		routes = append(routes, &url.URL{Scheme: "nats", Host: freeAddress(t)})
	}
	for i := range n {
		_, port, _ := net.SplitHostPort(freeAddress(t))
		_, route, _ := net.SplitHostPort(routes[i].Host)
		o := &server.Options{
			Host: "127.0.0.1", Port: number(port), NoSigs: true, NoLog: true, MaxPayload: 64 << 10, ServerName: fmt.Sprintf("nats-%d", i),
			Routes: routes, Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: number(route)},
		}
		if n == 1 {
			o.Routes, o.Cluster = nil, server.ClusterOpts{}
		}
		c.options = append(c.options, o)
	}
	for i := range n {
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range n {
			c.stop(i)
		}
	})
	c.formed()
	return c
}

// formed waits until the servers that run know each other.
func (c *cluster) formed() {
	c.t.Helper()
	eventually(c.t, "the cluster forms", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		running := 0
		for _, s := range c.servers {
			if s != nil {
				running++
			}
		}
		for _, s := range c.servers {
			if s != nil && running > 1 && s.NumRoutes() < running-1 {
				return false
			}
		}
		return true
	})
}

func number(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}

// freeAddress returns an address of loopback that was free a moment ago. Its port is not one
// that systems give to outgoing connections: those of other tests would take it.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12_000+rand.N(18_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no address is free")
	return ""
}

// start starts server i again at its address.
func (c *cluster) start(i int) {
	c.t.Helper()
	s := startServer(c.t, c.options[i])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[i] = s
}

// startServer starts a server, again if its port is still taken.
func startServer(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	for range 3 {
		s, err := server.NewServer(o.Clone())
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		if s.ReadyForConnections(20 * time.Second) {
			return s
		}
		s.Shutdown()
		s.WaitForShutdown()
	}
	t.Fatal("NATS does not start")
	return nil
}

// stop ends server i, if it runs.
func (c *cluster) stop(i int) {
	c.mu.Lock()
	s := c.servers[i]
	c.servers[i] = nil
	c.mu.Unlock()
	if s != nil {
		s.Shutdown()
		s.WaitForShutdown()
	}
}

// url returns the address of server i.
func (c *cluster) url(i int) string {
	return fmt.Sprintf("nats://127.0.0.1:%d", c.options[i].Port)
}

// valve is a way to a NATS server that can be cut: no bytes pass, and none are refused.
type valve struct {
	mu    sync.Mutex
	open  bool
	moved chan struct{} // closed when open changes
}

func newValve() *valve { return &valve{open: true, moved: make(chan struct{})} }

func (v *valve) set(open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = open
	close(v.moved)
	v.moved = make(chan struct{})
}

// wait returns true once the valve is open, or false if ended is closed before.
func (v *valve) wait(ended <-chan struct{}) bool {
	for {
		v.mu.Lock()
		open, moved := v.open, v.moved
		v.mu.Unlock()
		if open {
			return true
		}
		select {
		case <-moved:
		case <-ended:
			return false
		}
	}
}

// Dial implements nats.CustomDialer.
func (v *valve) Dial(network, address string) (net.Conn, error) {
	v.mu.Lock()
	open := v.open
	v.mu.Unlock()
	if !open {
		return nil, errors.New("cut")
	}
	to, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	ended := make(chan struct{})
	var once sync.Once
	end := func() { once.Do(func() { close(ended); far.Close(); to.Close() }) }
	carry := func(dst, src net.Conn) {
		defer end()
		buf := make([]byte, 32<<10)
		for {
			n, err := src.Read(buf)
			if n > 0 {
				if !v.wait(ended) {
					return
				}
				if _, err := dst.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					return
				}
				return
			}
		}
	}
	go carry(to, far)
	go carry(far, to)
	return near, nil
}

// through connects by a valve, and notices soon that it is cut.
func through(v *valve) []nats.Option {
	return []nats.Option{nats.SetCustomDialer(v), nats.PingInterval(100 * time.Millisecond), nats.FlusherTimeout(time.Second)}
}

// eventually polls until the condition holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(60 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("this did not come to pass: " + what)
		}
	}
}

// after waits, as a condition that only time fulfills.
func after(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
