package relay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func quickBackoff() backoff.BackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 5 * time.Millisecond, Multiplier: 2, MaxInterval: 100 * time.Millisecond, RandomizationFactor: 0.5}
}

// counting answers each message with its number on this lane and its text, so
// that a client can detect lost, repeated and reordered messages.
func counting(ctx context.Context, c *ws.Conn, _ LaneInfo) {
	defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "") })()
	for i := 1; ; i++ {
		m, err := c.ReadMessage()
		if err != nil || c.WriteBatch([][]byte{fmt.Appendf(nil, "%d %s", i, m)}) != nil {
			return
		}
	}
}

// talk keeps a client busy until done is closed, reconnecting as often as
// necessary. Then one more exchange must succeed.
func talk(t *testing.T, n *network, name string, done <-chan struct{}, exchanges, lanes *atomic.Int64) {
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	for over := false; !over; {
		c, err := ws.Dial(t.Context(), edgeURL+"ahp/laptop", ws.DialOptions{Token: userToken, NetDial: n.dial})
		if err != nil {
			<-pause.C // the relay is down
			continue
		}
		lanes.Add(1)
		for i := 1; !over; i++ {
			text := name + "-" + strconv.Itoa(i) + "-" + strings.Repeat("x", i%5000)
			got, err := say(c, text)
			if _, ok := errors.AsType[*ws.CloseError](err); err != nil && !ok {
				t.Errorf("%s: the lane ended without a typed close: %v", name, err)
			}
			if err != nil {
				break
			}
			if want := strconv.Itoa(i) + " " + text; got != want {
				t.Errorf("%s: got %.40q, want %.40q", name, got, want)
			}
			exchanges.Add(1)
			select {
			case <-done:
				over = true
			default:
			}
		}
		c.Close(ws.CodeNormal, "")
		c.Wait()
	}
}

// The relay is killed and restarted under load. Clients and the host reconnect
// automatically, and the answers on each lane are complete and in order.
func TestRestartsUnderLoad(t *testing.T) {
	ahptest.Leaks(t)
	restarts := 5
	if os.Getenv("AHP_LONG") == "1" {
		restarts = 50
	}
	p := startChild(t, "edge", "")
	n := p.network()
	u := startUplink(t, n, UplinkOptions{Serve: counting, Backoff: quickBackoff()})
	u.await(t, Registered)
	var exchanges, lanes atomic.Int64
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { talk(t, n, "client"+strconv.Itoa(i), done, &exchanges, &lanes) })
	}
	began := time.Now()
	for range restarts {
		mark := exchanges.Load()
		eventually(t, "clients talk", func() bool { return exchanges.Load() > mark+500 })
		p.kill()
		p = startChild(t, "edge", p.addr)
		u.await(t, Registered)
	}
	close(done)
	wg.Wait()
	t.Logf("%d kills in %s: %d exchanges over %d lanes of 20 clients", restarts, time.Since(began).Round(time.Millisecond), exchanges.Load(), lanes.Load())
	if lanes.Load() < int64(20+restarts) {
		t.Errorf("only %d lanes: the relay was not missed", lanes.Load())
	}
	if err := u.stop(); err != nil {
		t.Error(err)
	}
}
