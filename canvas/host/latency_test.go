package host_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A client that reads nothing beside a hundred that do: their 99th percentile
// with it and without it, in turns, on real sockets. The long form (AHP_LONG=1)
// waits until the host has closed it and holds the ratio to 1.2; the short one
// prints the figure.
func TestStuckSubscriberLatency(t *testing.T) {
	rounds, length := 1, 500*time.Millisecond
	if long() {
		rounds, length = 3, 4*time.Second
	}
	h, _ := serve(t, host.Options{})
	l := &listeners{}
	for i := range 100 {
		l.join(t, h, "healthy"+strconv.Itoa(i))
	}
	var alone, beside []time.Duration
	for range rounds {
		alone = append(alone, l.p99(t, h, length))
		stuck := stick(t, h)
		beside = append(beside, l.p99(t, h, length))
		if long() {
			for deadline := time.Now().Add(20 * time.Second); h.Connections() > 100; l.p99(t, h, 100*time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the host keeps a client that reads nothing")
				}
			}
		}
		stuck.Close(ws.CodeNormal, "")
	}
	slices.Sort(alone)
	slices.Sort(beside)
	ratio := float64(beside[rounds/2]) / float64(alone[rounds/2])
	t.Logf("p99 of 100 clients: %v alone, %v beside a stuck one: %.2f x", alone[rounds/2], beside[rounds/2], ratio)
	if long() && ratio > 1.2 {
		t.Errorf("a stuck client moves the others' p99 by %.2f x, want at most 1.2", ratio)
	}
}

// listeners are clients that note when each title reaches them. A title is the
// moment at which it was published, in nanoseconds, and padding.
type listeners struct {
	mu    sync.Mutex
	heard []time.Duration
}

func (l *listeners) join(t *testing.T, h *host.Host, clientID string) {
	c := dial(t, h, clientID, host.DefaultSession)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			msg, err := c.ReadMessage()
			if err != nil {
				return
			}
			l.note(string(msg), time.Now())
		}
	}()
	t.Cleanup(func() { c.Close(ws.CodeNormal, ""); <-done })
}

func (l *listeners) note(msg string, now time.Time) {
	_, rest, _ := strings.Cut(msg, `"title":"`)
	stamp, _, _ := strings.Cut(rest, " ")
	sent, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, now.Sub(time.Unix(0, sent)))
}

// p99 publishes a title every two milliseconds, whatever became of those before,
// and returns the 99th percentile of their way.
func (l *listeners) p99(t *testing.T, h *host.Host, length time.Duration) time.Duration {
	t.Helper()
	l.mu.Lock()
	l.heard = l.heard[:0]
	l.mu.Unlock()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	n := 0
	for end := time.Now().Add(length); time.Now().Before(end); n++ {
		<-tick.C
		err := h.Log().Do(func(tx *channels.Tx) error {
			return tx.Append(host.DefaultSession, session.TitleChanged{Title: strconv.FormatInt(time.Now().UnixNano(), 10) + strings.Repeat(" ", 2000)})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); ; <-tick.C {
		l.mu.Lock()
		heard := slices.Clone(l.heard)
		l.mu.Unlock()
		if len(heard) >= 100*n {
			slices.Sort(heard)
			return heard[len(heard)*99/100]
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d titles arrived", len(heard), 100*n)
		}
	}
}

// stick opens a connection that subscribes and then reads nothing more.
func stick(t *testing.T, h *host.Host) *ws.Conn {
	t.Helper()
	view, _ := h.Tokens()
	c, err := ws.Dial(t.Context(), h.Endpoints().AHP, ws.DialOptions{Token: view, NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096)
		}
		return conn, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(ws.CodeNormal, ""); c.Wait() })
	send(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientId":"stuck","protocolVersions":["0.6.0"],"initialSubscriptions":`+string(ahp.MustMarshal([]string{host.DefaultSession}))+`}}`)
	receive(t, c)
	return c
}
