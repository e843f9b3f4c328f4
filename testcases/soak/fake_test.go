package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// TestDay runs a host with its store, its relay and their clients by a fake clock: three
// hours, and with AHP_LONG a day.
func TestDay(t *testing.T) {
	lasts, tolerance := 3*time.Hour, 512.0
	if os.Getenv("AHP_LONG") != "" {
		lasts, tolerance = 24*time.Hour, 32
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		f := newFake(t, dir)
		s := &soak{world: world{agent: f, people: f, kills: f}, plan: plan{
			lasts: lasts, sample: lasts / 144, call: 30 * time.Second, stay: 190 * time.Second, pause: 413 * time.Second,
			visitors: 6, crash: 17 * time.Minute, restart: 47 * time.Minute,
		}}
		if err := f.Open(t.Context(), "board", "board"); err != nil {
			t.Fatal(err)
		}
		all := f.quantities(tolerance)
		measure := func(put func(m *measured, v float64)) {
			synctest.Wait()
			for i, v := range f.measure() {
				put(all[i], v)
			}
		}
		measure(func(m *measured, v float64) { m.before = v })
		s.run(t.Context(), func() {
			measure(func(m *measured, v float64) { m.at, m.values = append(m.at, time.Since(began)), append(m.values, v) })
		})
		time.Sleep(10 * time.Minute) // what waits for people who left is given up
		measure(func(m *measured, v float64) { m.after = v })
		t.Logf("%s by a fake clock: %v\n%s", lasts, s.counts, header)
		for _, m := range all {
			row, wrong := m.judge()
			if t.Log(row); wrong != "" {
				t.Error(wrong)
			}
		}
		for _, failure := range s.failed {
			t.Error(failure)
		}
		for _, what := range []string{"calls", "visits", "visits through the relay", "crashes", "restarts"} {
			if s.counts[what] < 2 {
				t.Errorf("%d %s", s.counts[what], what)
			}
		}
		f.close(t)
	})
}

// The addresses and tokens in the network in memory.
const (
	hostAddress, relayAddress         = "127.0.0.1:8080", "127.0.0.1:8443"
	viewToken, agentToken, relayToken = "view-token", "agent-token", "relay-token"
)

// fake is a host and its relay in this process.
type fake struct {
	net   ahptest.Net
	dir   string
	host  *host.Host
	id    seal.Identity
	ends  []func() error // in reverse order
	relay func()         // ends the relay
}

func newFake(t *testing.T, dir string) *fake {
	f := &fake{dir: dir}
	store, err := sqlitestore.Open(t.Context(), filepath.Join(dir, sqlitestore.FileName), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.ends = append(f.ends, store.Close)
	// The replay buffers are small, so that they are full after a third of a run.
	log := channels.Options{StateEntries: 64, MessageEntries: 64}
	if f.host, err = host.New(host.Options{ViewToken: viewToken, AgentToken: agentToken, Store: store, Log: log}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.host.Add(board.New()); err != nil {
		t.Fatal(err)
	}
	ln, err := f.net.Listen(hostAddress)
	if err != nil {
		t.Fatal(err)
	}
	f.background(func(ctx context.Context) error { return f.host.Serve(ctx, ln) })
	if err := f.startRelay(); err != nil {
		t.Fatal(err)
	}
	f.register(t)
	return f
}

// background runs fn until the test ends.
func (f *fake) background(fn func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- fn(ctx) }()
	f.ends = append(f.ends, func() error { cancel(); return <-ended })
}

// register registers the host at the relay, with sealed lanes.
func (f *fake) register(t *testing.T) {
	key := seal.NewKey()
	f.id = seal.Identity{Host: "laptop", Key: key.Public()}
	sealing := seal.NewHost(key, "laptop", false)
	up, err := relay.NewUplink(relay.UplinkOptions{
		URL: "ws://" + relayAddress + "/", Token: relayToken, Host: "laptop", NetDial: f.net.Dial,
		Serve: func(ctx context.Context, socket *ws.Conn, lane relay.LaneInfo) {
			if sealing.Accept(ctx, socket, lane.Subject) == nil {
				f.host.ServeSocket(socket, ws.Grant{Role: host.RoleView, Name: "relay " + lane.Person})
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.background(func(ctx context.Context) error { return up.Run(ctx) })
}

// startRelay starts a relay at its address.
func (f *fake) startRelay() error {
	ln, err := f.net.Listen(relayAddress)
	if err != nil {
		return err
	}
	edge := relay.New(relay.EdgeOptions{Hosts: []string{relayAddress}, Authorizer: anyone{}})
	srv := &http.Server{Handler: edge, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = srv.Serve(ln) }()
	f.relay = func() {
		_ = srv.Close()
		_ = edge.Close(context.Background())
		<-ended
	}
	return nil
}

// anyone grants everything.
type anyone struct{}

func (anyone) Authorize(context.Context, relay.Audience, string, string) (relay.Grant, error) {
	return relay.Grant{Subject: "laptop"}, nil
}

func (f *fake) close(t *testing.T) {
	f.relay()
	for i := range f.ends {
		if err := f.ends[len(f.ends)-1-i](); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func (f *fake) Open(ctx context.Context, canvasID, instanceID string) error {
	_, err := f.host.Canvases().Open(ctx, canvas.OpenArgs{Session: host.DefaultSession, CanvasID: canvasID, InstanceID: instanceID})
	return err
}

func (f *fake) Invoke(ctx context.Context, instanceID, action string, input any) (ahp.Value, error) {
	return f.host.Canvases().Invoke(ctx, canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: instanceID, ActionName: action, Input: ahp.MustMarshal(input)})
}

func (f *fake) Close(ctx context.Context, instanceID string) error {
	return f.host.Canvases().Close(ctx, host.DefaultSession, instanceID)
}

// dial connects a client, whose connection vanish drops.
func (f *fake) dial(ctx context.Context, url string, o client.Options) (c *client.Client, vanish func(), err error) {
	var mu sync.Mutex
	var last net.Conn
	o.NetDial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := f.net.Dial(ctx, network, addr)
		mu.Lock()
		defer mu.Unlock()
		last = nc
		return nc, err
	}
	c, err = client.Dial(ctx, url, o)
	return c, func() {
		mu.Lock()
		defer mu.Unlock()
		_ = last.Close()
	}, err
}

func (f *fake) Connect(ctx context.Context, relayed bool) (*client.Client, func(), error) {
	if relayed {
		return f.dial(ctx, "ws://"+relayAddress+"/ahp/laptop", client.Options{Token: relayToken, Seal: &f.id})
	}
	return f.dial(ctx, "ws://"+hostAddress+"/ahp", client.Options{Token: viewToken})
}

func (f *fake) Provide(ctx context.Context) (kill func(), err error) {
	c, vanish, err := f.dial(ctx, "ws://"+hostAddress+"/ahp", client.Options{Token: agentToken, ClientID: "worker"})
	if err != nil {
		return nil, err
	}
	work := worker()
	if err := c.Provide(ctx, defaultSession, "Worker", work, work.Declarations()...); err != nil {
		c.Close()
		return nil, fmt.Errorf("declaring the canvas: %w", err)
	}
	return func() { vanish(); c.Close() }, nil
}

func (f *fake) Relay(context.Context) error {
	f.relay()
	return f.startRelay()
}

// quantities are what measure measures, with how many KiB the heap and the disk may grow in
// an hour.
func (f *fake) quantities(tolerance float64) []*measured {
	return []*measured{
		{quantity: quantity{"heap", "KiB", tolerance, 4 << 10}},
		{quantity: quantity{"goroutines", "", 0.5, 4}},
		{quantity: quantity{"files", "", 0.2, 2}},
		{quantity: quantity{"disk", "KiB", tolerance, 8 << 10}},
	}
}

func (f *fake) measure() []float64 {
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return []float64{float64(mem.HeapAlloc) / 1024, float64(runtime.NumGoroutine()), float64(ahptest.Descriptors()), folderSize(f.dir) / 1024}
}
