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

// bareRelay is a relay in the hands of a test: what comes through a door is door's,
// until it returns.
func bareRelay(t *testing.T, n *network, door func(name string, c *ws.Conn)) {
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
		door(name, c)
	})})
}

// padded is a message of a size, in bytes.
func padded(m message, size int) string {
	text := string(m.encode())
	return text + strings.Repeat(" ", size-len(text))
}

// slowRelay offers a host one lane; one of its doors takes its time to say the first
// word. It tells what else it hears from the host.
func slowRelay(t *testing.T, n *network, slow string, takes time.Duration, hears func(string)) {
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
			hears(m.Type)
		} else if name == "host" {
			hears(err.(*ws.CloseError).Reason)
		}
	})
}

// A host gives its relay 10 s to answer a registration, and as long to open a lane.
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
					t.Errorf("a slow %s door, %s: %q after %s, want %q", slow, takes, got, time.Since(began), want)
				}
			})
		}
	}
}

// A message between a relay and a host has 4 KiB, whoever says it.
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

// Who gives no sign of life is given up after a minute: twice PingAfter.
func TestASilentHostIsGivenUp(t *testing.T) {
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

// A host dials 16 lanes at a time and has 256; one more is declined.
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
			t.Errorf("%d are dialled at a time, %v", d, e.Stats().Refused)
		}
		close(gate)
		synctest.Wait()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "the host did not answer")
		if s := e.Stats(); s.Lanes != 256 {
			t.Errorf("%d lanes", s.Lanes)
		}
	})
}

// Each wait is by half more or less, up to 5 s: a thousand of them come near to both
// ends.
func TestWaitsAreSpread(t *testing.T) {
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

// What a token file may hold, at its bounds and a byte above them.
func TestTokenFilesAreBounded(t *testing.T) {
	for over, want := range map[int]string{0: "", 1: "subject has 1 to 128 bytes"} {
		wantParsed(t, TokenRow{Subject: strings.Repeat("s", 128+over)}, want)
	}
	for over, want := range map[int]string{0: "", 1: "clientId is longer than 256 bytes"} {
		wantParsed(t, TokenRow{Subject: "s", ClientID: strings.Repeat("c", 256+over)}, want)
	}
	for over, want := range map[int]string{0: "", 1: "above 16 MiB"} {
		f := newTokenFile(t)
		f.write([]byte(`{"tokens":[]}` + strings.Repeat(" ", 16<<20-13+over)))
		if _, err := NewFileAuthorizer(f.name, nil); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("16 MiB and %d: %v", over, err)
		}
	}
}

func wantParsed(t *testing.T, row TokenRow, want string) {
	t.Helper()
	row.Audience, row.Hosts = ForClient, []string{AnyHost}
	_, row = Mint(row)
	_, err := ParseTokens(TokenFile{Tokens: []TokenRow{row}}.Encode())
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// The token file is looked at every 2 s.
func TestTheTokenFileIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTokenFile(t)
		f.save()
		a, err := NewFileAuthorizer(f.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		go a.Watch(t.Context())
		ann := f.mint(TokenRow{Audience: ForClient, Subject: "ann", Hosts: []string{AnyHost}})
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

// What nobody may guess: a token has 256 bits, a lane's id and its secret have 128 at
// least.
func TestSecretsAreLong(t *testing.T) {
	token, _ := Mint(TokenRow{})
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
