package programtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
)

// TestFleetKilledUnderRequests kills relays and NATS servers with SIGKILL while clients and
// their host send requests of every kind through the fleet. None is done twice, those that
// were answered were done, and all clients are back soon with the host's state.
func TestFleetKilledUnderRequests(t *testing.T) {
	t.Parallel()
	f := newRealFleet(t, "--drain", "1s")
	a := makeRelayed(f.m)
	a.key, _ = f.m.signedKey(f.dir, "laptop")
	a.at, a.dialer = "ws://"+fleetName+"/", f.dial
	a.connect(t)
	done := make(chan struct{})
	wait := a.load(t, done)
	edges, servers := runs(3, 50), runs(1, 20)
	var afterEdge, afterServer []float64
	for range edges {
		i := rand.N(len(f.edges))
		after(500*time.Millisecond + rand.N(300*time.Millisecond))
		f.edges[i].kill()
		after(rand.N(500 * time.Millisecond))
		at := time.Now()
		f.restart(t, i)
		afterEdge = append(afterEdge, a.answered(t, at)...)
	}
	for range servers {
		n := f.nats[rand.N(len(f.nats))]
		after(500*time.Millisecond + rand.N(300*time.Millisecond))
		n.kill()
		after(rand.N(500 * time.Millisecond))
		at := time.Now()
		n.start(t)
		for i := range f.edges {
			f.joined(t, i)
		}
		afterServer = append(afterServer, a.answered(t, at)...)
	}
	close(done)
	wait()
	t.Logf("%d kills of relays; after the start each client was answered: %s", edges, spread(afterEdge))
	t.Logf("%d kills of NATS servers; after the start each client was answered: %s", servers, spread(afterServer))
	a.drain(t)
	a.compareStates(t)
	for _, c := range []*tally{a.invokes, a.opens, a.messages, a.reads, a.titles, a.sessions} {
		c.check(t)
	}
}

// answered waits until the host answers every client, and returns how many milliseconds after
// since that was.
func (a *relayed) answered(t *testing.T, since time.Time) []float64 {
	t.Helper()
	took := make([]float64, len(a.clients))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range a.clients {
		wg.Go(func() {
			for {
				_, err := client.Call(ctx, c, ahp.Ping, ahp.PingParams{Channel: ahp.RootURI})
				if err == nil {
					break
				}
				if ctx.Err() != nil {
					t.Errorf("%s is not back: %v", c.ID(), err)
					return
				}
				after(5 * time.Millisecond)
			}
			took[i] = float64(time.Since(since).Milliseconds())
		})
	}
	wg.Wait()
	return took
}

// TestFleetRollingRestart restarts the relays of a fleet one after the other with SIGTERM,
// under load. They move all connections: no request fails, and none is done twice.
func TestFleetRollingRestart(t *testing.T) {
	t.Parallel()
	hosts, clients, rounds := 4, 20, 1
	if os.Getenv("AHP_LONG") != "" {
		hosts, clients, rounds = 20, 150, 5
	}
	f := newRealFleet(t, "--drain", "100s")
	f.rollingRestart(t, hosts, clients, rounds)
}

// TestFleetRestartsUnnoticed restarts the relays of a fleet one after the other under clients of
// the Go client and a host with requests of every kind in both directions. The clients move: no
// request fails, and each is done once.
func TestFleetRestartsUnnoticed(t *testing.T) {
	t.Parallel()
	f := newRealFleet(t, "--drain", "100s")
	a := makeRelayed(f.m)
	a.key, _ = f.m.signedKey(f.dir, "laptop")
	a.at, a.dialer = "ws://"+fleetName+"/", f.dial
	a.connect(t)
	done := make(chan struct{})
	wait := a.load(t, done)
	for range runs(1, 5) {
		for i, e := range f.edges {
			after(500 * time.Millisecond)
			began := time.Now()
			if code := e.stop(); code != 0 {
				t.Errorf("edge %d ended with %d:\n%s", i, code, e.errs)
			}
			stopped := time.Now()
			f.restart(t, i)
			joined := time.Now()
			a.answered(t, joined)
			t.Logf("edge %d drained in %s and was back after %s", i, stopped.Sub(began), joined.Sub(stopped))
		}
	}
	close(done)
	wait()
	a.drain(t)
	a.compareStates(t)
	for _, c := range []*tally{a.invokes, a.opens, a.messages, a.reads, a.titles, a.sessions} {
		c.check(t)
		if n := c.unanswered(); n != 0 {
			t.Errorf("%d of %s failed", n, c.what)
		}
	}
}

// TestFleetRestartsUnderAPage restarts the relays of a fleet one after the other while a person
// adds cards to a board in Chromium, through a balancer. The page stays connected, and each card
// is added once.
func TestFleetRestartsUnderAPage(t *testing.T) {
	t.Parallel()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(front.Addr().String())
	origin := "http://localhost:" + port
	f := newRealFleet(t, "--drain", "100s", "--origin", origin)
	f.balance(t, front)
	_, file := f.m.signedKey(f.dir, "laptop")
	args := []string{"--state", "memory", "--relay", "ws://localhost:" + port + "/", "--relay-token-file", file, "--log-level", "info"}
	s := f.m.serve(args...)
	s.errs.await(t, "registered with the relay")
	tab := webtest.Start(t).Open(t, s.Link)
	inner := tab.Frames(t, 1, webtest.ContentFrame)[0]
	const board = `document.querySelector("iframe").contentDocument`
	inner.Wait(t, board+`?.querySelector(".add")`)
	webtest.Eval[any](t, tab, `void (window.states = new Set(), setInterval(() => states.add(document.body.dataset.connection), 5))`)
	webtest.Eval[any](t, inner, `void (async () => {
		const d = `+board+`, until = (f) => new Promise((done) => { const t = setInterval(() => { if (f()) { clearInterval(t); done(); } }, 2); });
		window.added = 0, window.limit = 120;
		d.querySelector(".add").click();
		await until(() => d.querySelector("form input, form textarea"));
		while (!window.enough) {
			const field = d.querySelector("form input, form textarea");
			field.value = "Card " + (added + 1) + ".";
			d.querySelector("form").requestSubmit();
			await until(() => field.value === "");
			added++;
			await until(() => added < limit || window.enough);
		}
		window.enough = "done";
	})()`)
	cards := func() int { return webtest.Eval[int](t, inner, `window.added`) }
	for i, e := range f.edges {
		before := cards() // a board holds at most 500
		inner.Wait(t, fmt.Sprintf(`window.limit = %d + 120, window.added > %[1]d + 5`, before))
		if code := e.stop(); code != 0 {
			t.Errorf("edge %d ended with %d:\n%s", i, code, e.errs)
		}
		f.restart(t, i)
	}
	inner.Wait(t, fmt.Sprintf(`window.limit = %d + 120, window.added > %[1]d + 5`, cards()))
	inner.Wait(t, `window.enough ||= true, window.enough === "done"`)
	if states := webtest.Eval[[]string](t, tab, `[...states]`); len(states) != 1 || states[0] != "ready" {
		t.Errorf("the page's connection was %q", states)
	}
	board1 := f.m.do(0, "invoke", "board", "get_board")
	n := cards()
	for i := range n {
		if title := fmt.Sprintf("Card %d.", i+1); strings.Count(board1, strconv.Quote(title)) != 1 {
			t.Errorf("%s is on the board %d times", title, strings.Count(board1, strconv.Quote(title)))
		}
	}
	t.Logf("%d cards", n)
}

// balance forwards connections to an edge that accepts them, until the test ends.
func (f *realFleet) balance(t *testing.T, front net.Listener) {
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	wg.Go(func() {
		for {
			c, err := front.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				to, err := f.dial(ctx, "tcp", fleetName+":80")
				if err != nil {
					return
				}
				defer to.Close()
				defer context.AfterFunc(ctx, func() { c.Close(); to.Close() })()
				back := make(chan struct{})
				go func() { defer close(back); _, _ = io.Copy(c, to); c.Close() }()
				_, _ = io.Copy(to, c)
				to.Close()
				<-back
			})
		}
	})
	t.Cleanup(func() { stop(); front.Close(); wg.Wait() })
}

// rollingRestart restarts all relays one after the other under load.
func (f *realFleet) rollingRestart(t *testing.T, hosts, clients, rounds int) {
	t.Helper()
	keys := make([]relaykey.Key, hosts)
	name := func(i int) string { return fmt.Sprint("host-", i) }
	l := relaytest.NewLoad(t, func(host int) (*ws.Conn, error) {
		return ws.Dial(t.Context(), "ws://"+fleetName+"/ahp/"+name(host), ws.DialOptions{Token: keys[host].ClientToken, NetDial: f.dial, HandshakeTimeout: 30 * time.Second})
	}, func() time.Duration {
		return []time.Duration{0, rand.N(20 * time.Millisecond), rand.N(900 * time.Millisecond)}[rand.N(3)]
	}, relaytest.NotPassed)
	for i := range hosts {
		keys[i], _ = f.m.signedKey(f.dir, name(i))
		runUplink(t, relay.UplinkOptions{URL: "ws://" + fleetName + "/", Token: keys[i].HostToken, Host: name(i), NetDial: f.dial, Serve: l.Serve})
	}
	l.Start(hosts, clients)
	for range rounds {
		for i, e := range f.edges {
			began := time.Now()
			if code := e.stop(); code != 0 {
				t.Errorf("edge %d ended with %d:\n%s", i, code, e.errs)
			}
			if took := time.Since(began); took > 95*time.Second {
				t.Errorf("edge %d did not drain in %s", i, took)
			}
			f.restart(t, i)
			l.Back("after a restart", time.Now())
		}
	}
	l.Stop()
	if n := l.Failed(); n != 0 {
		t.Errorf("%d requests failed", n)
	}
	l.Check()
}

// TestFleetRefusesBadNATS: a relay whose NATS server refuses it serves alone, and its health
// and its log say what to do.
func TestFleetRefusesBadNATS(t *testing.T) {
	t.Parallel()
	m, dir := newMachine(t), t.TempDir()
	m.signedKey(dir, "laptop")
	nats := natsServerFor(t, "edge", "right-password")
	at, admin := "ws://127.0.0.1:"+freePort(t)+"/", "127.0.0.1:"+freePort(t)
	args := []string{"relay", "--advertise", at, "--edges", at, "--listen", strings.Trim(at, "ws:/"), "--admin", admin, "--token-key", dir + "/relay.key.pub"}
	m.do(1, append(args, "--nats", nats.ClientURL(), "--nats-creds", dir+"/absent")...)
	if !strings.Contains(m.err, "--nats-creds: ") {
		t.Errorf("without the file it says %s", m.err)
	}
	r := m.start(append(args, "--nats", strings.Replace(nats.ClientURL(), "://", "://edge:wrong-password@", 1))...)
	r.errs.await(t, "--nats-creds")
	if health := body(t, "http://"+admin+"/healthz"); !strings.HasPrefix(health, "degraded: NATS does not accept") {
		t.Errorf("the health is %q", health)
	}
	if strings.Contains(r.errs.String(), "wrong-password") {
		t.Errorf("the log has the password:\n%s", r.errs)
	}
}
