package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/natsdir"
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
	began = time.Now()
	took := offerAt(t, dirs, hosts, rate, lasts)
	wall := time.Since(began)
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
		d, err := natsdir.Open(natsdir.Options{URLs: []string{url}, Edges: allowed})
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
