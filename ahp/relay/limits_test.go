package relay

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// bareRelay is a relay whose endpoints a test implements: serve has each
// connection until it returns.
func bareRelay(t *testing.T, n *network, serve func(endpoint string, c *ws.Conn)) {
	t.Helper()
	l, err := n.listen()
	if err != nil {
		t.Fatal(err)
	}
	ahptest.Serve(t, l, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := ws.Upgrade(w, r, ws.Options{})
		if err != nil {
			return
		}
		defer c.Wait()
		defer c.Close(ws.CodeNormal, "")
		name, _, _ := strings.Cut(r.URL.Path[1:], "/")
		serve(name, c)
	})})
}

// padded returns a message padded to size bytes.
func padded(m message, size int) string {
	text := string(m.encode())
	return text + strings.Repeat(" ", size-len(text))
}

// slowRelay offers a host one lane. The endpoint that slow names waits before
// its first message. received gets what the host sends next.
func slowRelay(t *testing.T, n *network, slow string, takes time.Duration, received func(string)) {
	bareRelay(t, n, func(name string, c *ws.Conn) {
		says := []message{{Type: typeOpen}}
		if name == "host" {
			says = []message{{Type: typeRegistered}, {Type: typeLane, Lane: "abc", Secret: "s"}}
			_, _ = c.ReadMessage()
		}
		wait := time.Duration(0)
		if name == slow {
			wait = takes
		}
		time.AfterFunc(wait, func() {
			for _, m := range says {
				_ = c.WriteBatch([][]byte{m.encode()})
			}
		})
		data, err := c.ReadMessage()
		if m, _ := decode(data); err == nil {
			received(m.Type)
		} else if name == "host" {
			received(err.(*ws.CloseError).Reason)
		}
	})
}

// A host waits 10 s for the response to a registration, and 10 s for a lane to
// open.
func TestARelayHasTenSeconds(t *testing.T) {
	for slow, late := range map[string]string{"host": "no answer to the registration", "lane": typeDecline} {
		for takes, want := range map[time.Duration]string{10*time.Second - 1: "served", time.Minute: late} {
			synctest.Test(t, func(t *testing.T) {
				what := make(chan string, 10)
				n := inMemory()
				slowRelay(t, n, slow, takes, func(s string) { what <- s })
				began := time.Now()
				startUplink(t, n, UplinkOptions{Drain: time.Millisecond, Serve: func(context.Context, *ws.Conn, LaneInfo) { what <- "served" }})
				if got := <-what; got != want || time.Since(began) != min(takes, 10*time.Second) {
					t.Errorf("a slow %s endpoint, %s: %q after %s, want %q", slow, takes, got, time.Since(began), want)
				}
			})
		}
	}
}

// Messages between a relay and a host have at most 4 KiB, in both directions.
func TestMessagesHave4KiB(t *testing.T) {
	for size, code := range map[int]ws.CloseCode{4096: 0, 4097: ws.CodeTooBig} {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		c, err := tryDial(t, n, "host/laptop", ws.DialOptions{Token: hostToken})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := say(c, padded(message{Type: typeRegister, Generation: 1}, size)); ws.CodeOf(err) != code {
			t.Errorf("%d bytes of a host: %v", size, err)
		}
		n = inMemory()
		bareRelay(t, n, func(_ string, c *ws.Conn) {
			_, _ = c.ReadMessage()
			_, _ = say(c, padded(message{Type: typeRegistered}, size))
		})
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Connecting)
		if p := within(t, u.states); ws.CodeOf(p.Err) != code || (p.State == Registered) != (code == 0) {
			t.Errorf("%d bytes of a relay: %+v", size, p)
		}
	}
}

// A host that is silent for a minute, twice PingAfter, is disconnected.
func TestASilentHostIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		var wire *ahptest.Conn
		c, err := tryDial(t, n, "host/laptop", ws.DialOptions{
			Token: hostToken, Conn: ws.Options{PingAfter: time.Hour, DeadAfter: 2 * time.Hour},
			NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := n.dial(ctx, network, addr)
				wire = nc.(*ahptest.Conn)
				return nc, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := say(c, padded(message{Type: typeRegister, Generation: 1}, 100)); err != nil {
			t.Fatal(err)
		}
		wire.Freeze()
		defer wire.Thaw()
		for _, step := range []struct {
			wait  time.Duration
			hosts int
		}{{time.Minute - 1, 1}, {1, 0}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if s := e.Stats(); s.Hosts != step.hosts {
				t.Errorf("after %s more %d hosts are here", step.wait, s.Hosts)
			}
		}
	})
}

// A host dials at most 16 lanes concurrently and has at most 256; it declines
// one more.
func TestLanesOfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{LanesPerHost: 300})
		var laneDials atomic.Bool
		var dialling atomic.Int64
		gate := make(chan struct{})
		slow := &network{dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if laneDials.Load() {
				dialling.Add(1)
				<-gate
			}
			return n.dial(ctx, network, addr)
		}}
		startUplink(t, slow, UplinkOptions{}).await(t, Registered)
		laneDials.Store(true)
		for range 256 {
			dialHost(t, n, "laptop", userToken, ws.Options{})
		}
		synctest.Wait()
		if d := dialling.Load(); d != 16 || e.Stats().Refused[RefusedNoAnswer] != 0 {
			t.Errorf("%d are dialed at a time, %v", d, e.Stats().Refused)
		}
		close(gate)
		synctest.Wait()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "the host did not answer")
		if s := e.Stats(); s.Lanes != 256 {
			t.Errorf("%d lanes", s.Lanes)
		}
	})
}

// Each wait varies by up to half, up to 5 s. A thousand waits come close to
// both ends.
func TestWaitsVary(t *testing.T) {
	for n, base := range map[int]time.Duration{1: 200 * time.Millisecond, 12: 5 * time.Second} {
		shortest, longest := time.Hour, time.Duration(0)
		for range 1000 {
			waits := NewBackoff()
			for range n - 1 {
				waits.NextBackOff()
			}
			w := waits.NextBackOff()
			shortest, longest = min(shortest, w), max(longest, w)
		}
		if shortest < base/2 || shortest > base*11/20 || longest < base*29/20 || longest > base*3/2+1 {
			t.Errorf("wait %d: between %s and %s, want %s by half", n, shortest, longest, base)
		}
	}
}

// The limits of a token file, at the limit and one byte above it.
func TestTokenFileLimits(t *testing.T) {
	for over, want := range map[int]string{0: "", 1: "it must have 1 to 128 bytes"} {
		wantParsed(t, TokenEntry{Subject: strings.Repeat("s", 128+over)}, want)
	}
	for over, want := range map[int]string{0: "", 1: "clientId is longer than 256 bytes"} {
		wantParsed(t, TokenEntry{Subject: "s", ClientID: strings.Repeat("c", 256+over)}, want)
	}
	for over, want := range map[int]string{0: "", 1: "above 16 MiB"} {
		f := newTokenFile(t)
		f.write([]byte(`{"tokens":[]}` + strings.Repeat(" ", 16<<20-13+over)))
		if _, err := NewFileAuthorizer(f.name, nil); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("16 MiB and %d: %v", over, err)
		}
	}
}

func wantParsed(t *testing.T, row TokenEntry, want string) {
	t.Helper()
	row.Audience, row.Hosts = ForClient, []string{AnyHost}
	_, row = Mint(row)
	_, err := ParseTokens(TokenFile{Tokens: []TokenEntry{row}}.Encode())
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// The token file is polled every 2 s.
func TestTheTokenFileIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTokenFile(t)
		f.save()
		a, err := NewFileAuthorizer(f.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		go a.Watch(t.Context())
		ann := f.mint(TokenEntry{Audience: ForClient, Subject: "ann", Hosts: []string{AnyHost}})
		f.save()
		for _, step := range []struct {
			wait time.Duration
			want error
		}{{2*time.Second - 1, ErrUnknownToken}, {1, nil}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if _, err := a.Authorize(t.Context(), ForClient, ann, "laptop"); !errors.Is(err, step.want) {
				t.Errorf("after %s more: %v, want %v", step.wait, err, step.want)
			}
		}
	})
}

// A token has 256 random bits; a lane's id and its secret have at least 128.
func TestSecretsAreLong(t *testing.T) {
	token, _ := Mint(TokenEntry{})
	if b, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(b) < 32 {
		t.Errorf("a token has %d bytes, %v", len(b), err)
	}
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		control := register(t, n, 1)
		dialHost(t, n, "laptop", userToken, ws.Options{})
		offer := readOffer(t, control)
		for _, s := range []string{offer.Lane, offer.Secret} {
			if b, err := hex.DecodeString(s); err != nil || len(b) < 16 {
				t.Errorf("an offer has %d bytes, %v", len(b), err)
			}
		}
	})
}
