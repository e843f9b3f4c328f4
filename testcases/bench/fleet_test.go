package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/natsdir"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// natsChild is set in the process that only runs a NATS server.
const natsChild = "AHP_BENCH_NATS"

// TestNATSChild is no test: it runs the NATS server of TestFleetOfHosts.
func TestNATSChild(t *testing.T) {
	if os.Getenv(natsChild) == "" {
		t.Skip("this is the server of another test")
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("NATS does not start")
	}
	fmt.Println("\n" + s.ClientURL())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent ends
	s.Shutdown()
	s.WaitForShutdown()
}

// startNATS runs a NATS server in another process, to measure its cost separately.
func startNATS(t *testing.T) (url string, pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestNATSChild$")
	cmd.Env = append(os.Environ(), natsChild+"=1")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("cannot start NATS", err1, err2)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "nats://") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return lines.Text(), cmd.Process.Pid
		}
	}
	t.Fatal("NATS does not start")
	return "", 0
}

// usage is what a process has used. Only Linux says it.
type usage struct {
	cpu time.Duration
	rss int
}

func used(pid int) (u usage) {
	stat, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	statm, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err1 != nil || err2 != nil {
		return usage{}
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	var user, system, pages int
	all := strings.Fields(fields)
	_, _ = fmt.Sscan(all[11]+" "+all[12], &user, &system)
	_, _ = fmt.Sscan(strings.Fields(string(statm))[1], &pages)
	return usage{time.Duration(user+system) * 10 * time.Millisecond, pages * os.Getpagesize()}
}

// heap returns the memory of this process's objects and stacks.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// TestFleetOfHosts registers many hosts at the directories of many edges and sends offers
// from random edges to random hosts. It logs what a registration takes, beside the host's socket, what
// NATS takes, and how long offers take.
func TestFleetOfHosts(t *testing.T) {
	hosts, edges, rate, lasts := 2_000, 4, 500, time.Second
	if os.Getenv("AHP_LONG") != "" {
		hosts, edges, rate, lasts = 100_000, 20, 2_000, 10*time.Second
	}
	url, nats := startNATS(t)
	self := os.Getpid()
	dirs := openDirectories(t, url, edges)
	before, natsBefore := heap(), used(nats)
	began := time.Now()
	var received atomic.Int64
	registerAll(t, dirs, hosts, &received)
	after, natsAfter := heap(), used(nats)
	t.Logf("%d hosts on %d edges registered in %s; a registration takes %d bytes of an edge and %d bytes of NATS", hosts, edges,
		time.Since(began).Round(time.Millisecond), (after-before)/uint64(hosts), (natsAfter.rss-natsBefore.rss)/hosts)
	natsBefore, mine := used(nats), used(self)
	delays, trips := schedulingDelays(), roundTrips(t, url)
	began = time.Now()
	took := offerAt(t, dirs, hosts, rate, lasts)
	wall := time.Since(began)
	t.Logf("meanwhile: 99 %% of the goroutines of this process waited at most %s for a processor; 99 %% of the bare round trips of NATS took at most %s", delays(), trips())
	natsAfter, mineAfter := used(nats), used(self)
	if n := received.Load(); n != int64(len(took)) {
		t.Errorf("%d offers were received, %d sent", n, len(took))
	}
	t.Logf("%.0f offers a second (%.0f an edge): p50 %s, p99 %s; NATS took %.0f%% of a core, all edges %.0f%%", float64(len(took))/wall.Seconds(),
		float64(len(took))/wall.Seconds()/float64(edges), took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond),
		100*(natsAfter.cpu-natsBefore.cpu).Seconds()/wall.Seconds(), 100*(mineAfter.cpu-mine.cpu).Seconds()/wall.Seconds())
}

func openDirectories(t *testing.T, url string, n int) (dirs []*natsdir.Directory) {
	t.Helper()
	allowed, err := relay.ParseEdges("wss://*.relay.example")
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		d, err := natsdir.Open(natsdir.Options{URLs: []string{url}, Edges: allowed, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		dirs = append(dirs, d)
	}
	poll(t, func() bool {
		return !slices.ContainsFunc(dirs, func(d *natsdir.Directory) bool { return d.Stats().Edges < n-1 })
	})
	return dirs
}

func poll(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("the fleet is not ready")
		}
	}
}

func hostName(i int) string { return fmt.Sprint("host-", i) }

// registerAll registers the hosts, and returns once NATS knows all of them.
func registerAll(t *testing.T, dirs []*natsdir.Directory, hosts int, received *atomic.Int64) {
	t.Helper()
	signal := func(relay.Offer) error { received.Add(1); return nil }
	for i := range hosts {
		_, err := dirs[i%len(dirs)].Register(t.Context(), relay.Registration{Host: hostName(i), Generation: 1, Signal: signal, Superseded: func(int64) {}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range dirs { // the last one of each edge
		last := hosts - len(dirs) + (i+len(dirs)-hosts%len(dirs))%len(dirs)
		poll(t, func() bool {
			_, err := dirs[(last+1)%len(dirs)].Signal(t.Context(), hostName(last), relay.Offer{Lane: "l", Secret: "s", Edge: "wss://e.relay.example"})
			return err == nil
		})
		_ = d
	}
	received.Store(0)
}

// offerAt sends offers at a rate, and returns how long each took, in order.
func offerAt(t *testing.T, dirs []*natsdir.Directory, hosts, rate int, lasts time.Duration) (took []time.Duration) {
	t.Helper()
	const every = 10 * time.Millisecond
	var mu sync.Mutex
	var wg sync.WaitGroup
	tick := time.NewTicker(every)
	defer tick.Stop()
	for sent, began := 0, time.Now(); time.Since(began) < lasts; <-tick.C {
		for due := int(time.Since(began).Seconds() * float64(rate)); sent < due; sent++ {
			host := rand.N(hosts)
			from := (host%len(dirs) + 1 + rand.N(len(dirs)-1)) % len(dirs) // another edge than the host's
			wg.Go(func() {
				start := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				_, err := dirs[from].Signal(ctx, hostName(host), relay.Offer{Lane: "a-lane-of-forty-characters-as-edges-make", Secret: strings.Repeat("s", 40), Edge: "wss://edge-12.relay.example/"})
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(start))
				if err != nil {
					t.Errorf("host %d: %v", host, err)
				}
			})
		}
	}
	wg.Wait()
	slices.Sort(took)
	return took
}

// schedulingDelays measures, until it is called, how long goroutines that are ready wait for a
// processor. It returns the 99th percentile.
func schedulingDelays() func() time.Duration {
	read := func() *metrics.Float64Histogram {
		s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
		metrics.Read(s)
		h := s[0].Value.Float64Histogram()
		return &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: h.Buckets}
	}
	before := read()
	return func() time.Duration {
		after, all := read(), uint64(0)
		for i := range after.Counts {
			after.Counts[i] -= before.Counts[i]
			all += after.Counts[i]
		}
		sum := uint64(0)
		for i, n := range after.Counts {
			if sum += n; sum*100 >= all*99 {
				return time.Duration(after.Buckets[i] * 1e9)
			}
		}
		return 0
	}
}

// roundTrips measures, until it is called, round trips to a NATS server on a connection that
// does nothing else. It returns the 99th percentile.
func roundTrips(t *testing.T, url string) func() time.Duration {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	ended, all := make(chan struct{}), make(chan []time.Duration)
	go func() {
		var took []time.Duration
		defer func() { all <- took }()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if d, err := nc.RTT(); err == nil {
					took = append(took, d)
				}
			case <-ended:
				return
			}
		}
	}()
	return func() time.Duration {
		close(ended)
		took := <-all
		nc.Close()
		slices.Sort(took)
		return took[len(took)*99/100]
	}
}

// edgeChild is set, to the URL of a NATS server, in the process that only runs an edge.
const edgeChild = "AHP_BENCH_EDGE"

// TestEdgeChild is no test: it runs the edge of TestMemoryOfAnEdge.
func TestEdgeChild(t *testing.T) {
	nats := os.Getenv(edgeChild)
	if nats == "" {
		t.Skip("this is the edge of another test")
	}
	dir := openDirectories(t, nats, 1)[0]
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	allowed, _ := relay.ParseEdges("wss://*.relay.example")
	edge := relay.New(relay.EdgeOptions{Hosts: []string{ln.Addr().String()}, Authorizer: anyone{}, Directory: dir, URL: "wss://e.relay.example/", Edges: allowed, MaxHosts: 1 << 20})
	mux := http.NewServeMux()
	mux.Handle("/", edge)
	mux.HandleFunc("/bare", func(w http.ResponseWriter, r *http.Request) { // a connection without a registration
		if c, err := ws.Upgrade(w, r, ws.Options{ReadLimit: 4 << 10, PingAfter: time.Minute, DeadAfter: 2 * time.Minute, WriteStall: time.Minute}); err == nil {
			go func() { _, _ = c.ReadMessage(); c.Wait() }()
		}
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(ln) }()
	fmt.Println("\nedge " + ln.Addr().String())
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		fmt.Println("used", edge.Stats().Hosts, heap(), runtime.NumGoroutine())
	}
	_ = srv.Close()
	_ = edge.Close(context.Background())
}

// anyone is an Authorizer that accepts every token.
type anyone struct{}

func (anyone) Authorize(context.Context, relay.Audience, string, string) (relay.Grant, error) {
	return relay.Grant{Subject: "host"}, nil
}

// TestMemoryOfAnEdge registers hosts at a whole edge, over sockets, and logs the memory that
// the edge's process takes for each: objects and stacks.
func TestMemoryOfAnEdge(t *testing.T) {
	hosts := 500
	if os.Getenv("AHP_LONG") != "" {
		hosts = 5_000
	}
	nats, _ := startNATS(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestEdgeChild$")
	cmd.Env = append(os.Environ(), edgeChild+"="+nats)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("cannot start the edge", err1, err2)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	said := func(prefix string) string {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		t.Fatal("the edge ended")
		return ""
	}
	at := said("edge ")
	measure := func() (registered, bytes, goroutines int) {
		fmt.Fprintln(in)
		_, _ = fmt.Sscan(said("used "), &registered, &bytes, &goroutines)
		return
	}
	var conns, bare []*ws.Conn
	var without int
	t.Cleanup(func() {
		for _, c := range append(conns, bare...) {
			c.Close(ws.CodeNormal, "")
		}
		for _, c := range append(conns, bare...) {
			c.Wait()
		}
	})
	register := func(until int) {
		for i := len(conns); i < until; i++ {
			c, err := ws.Dial(t.Context(), fmt.Sprintf("ws://%s/host/host-%d", at, i), ws.DialOptions{Token: "t", HandshakeTimeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			if err := c.WriteBatch([][]byte{[]byte(`{"type":"register","generation":1,"connection":1}`)}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.ReadMessage(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range hosts + hosts/10 {
		c, err := ws.Dial(t.Context(), "ws://"+at+"/bare", ws.DialOptions{HandshakeTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if bare = append(bare, c); len(bare) == hosts/10 { // with what a process allocates once
			_, without, _ = measure()
		}
	}
	_, with, _ := measure()
	socket := float64(with-without) / float64(hosts)
	register(hosts / 10)
	first, before, idle := measure()
	register(hosts)
	last, after, busy := measure()
	if last-first != hosts-hosts/10 {
		t.Fatalf("%d and %d hosts are registered", first, last)
	}
	each := float64(after-before) / float64(last-first)
	t.Logf("%d hosts at a whole edge: %.1f KiB and %.1f goroutines each, of which the connection takes %.1f KiB and the rest %.1f KiB",
		last, each/1024, float64(busy-idle)/float64(last-first), socket/1024, (each-socket)/1024)
	if each-socket > 3<<10 && !raceEnabled { // the race detector allocates
		t.Errorf("a registration takes %.0f bytes beside its connection", each-socket)
	}
}
