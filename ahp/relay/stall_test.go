package relay

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// flood sends to a client as fast as it can and counts what was sent.
func flood(sent *atomic.Int64) func(context.Context, *ws.Conn, LaneInfo) {
	return func(ctx context.Context, c *ws.Conn, _ LaneInfo) {
		defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "") })()
		m, err := c.ReadMessage()
		if err != nil {
			return
		}
		if string(m) != "flood" {
			if c.WriteBatch([][]byte{m}) == nil {
				echo(ctx, c, LaneInfo{})
			}
			return
		}
		block := [][]byte{[]byte(randomText(1 << 20))}
		for c.WriteBatch(block) == nil {
			sent.Add(1 << 20)
		}
	}
}

// patient connections wait for the other end however slow the machine is.
var patient = ws.Options{WriteStall: time.Hour, PingAfter: time.Hour, DeadAfter: 2 * time.Hour}

// A client that does not read blocks only its own lane. The relay runs in a
// separate process, so its memory can be measured. 200 lanes open, exchange
// messages and close in the meantime.
func TestAStalledClientBlocksOnlyItsLane(t *testing.T) {
	p := startChild(t, "edge", "")
	n := p.network()
	var sent atomic.Int64
	u := startUplink(t, n, UplinkOptions{Serve: flood(&sent), Drain: time.Millisecond, Conn: patient})
	u.await(t, Registered)
	before := p.resident(false)
	stalled := dialHost(t, n, "laptop", userToken, patient)
	_ = stalled.WriteBatch([][]byte{[]byte("flood")}) // and never reads
	full, same := int64(0), 0
	eventually(t, "the sockets are full", func() bool { // the only sign is that the flood makes no progress
		now := sent.Load()
		if same++; now != full {
			full, same = now, 0
		}
		return full > 0 && same > 50
	})
	var wg sync.WaitGroup
	room := make(chan struct{}, 20)
	for range 200 {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			c, err := ws.Dial(t.Context(), edgeURL+"ahp/laptop", ws.DialOptions{Token: userToken, NetDial: n.dial})
			if err != nil {
				t.Error(err)
				return
			}
			for _, size := range []int{100, 40_000, 200_000} {
				text := randomText(size)
				if got, err := say(c, text); err != nil || got != text {
					t.Errorf("while another client is stalled: %v", err)
				}
			}
			c.Close(ws.CodeNormal, "")
			c.Wait()
		})
	}
	wg.Wait()
	if now, most := sent.Load(), socketBuffers(); now > most {
		t.Errorf("the host's lane sent %d bytes, and then %d; sockets and edge hold at most %d", full, now, most)
	}
	t.Logf("resident: %.1f MB at first, %.1f MB at most; the stalled lane's host wrote %d MiB and waits", before, p.resident(true), full>>20)
	if peak := p.resident(true); peak > 40 && !raceEnabled {
		t.Errorf("the relay used %.1f MB", peak)
	}
	if err := stalled.Err(); err != nil {
		t.Errorf("the stalled lane ended: %v", err)
	}
	for range 20 { // once it reads, everything arrives
		if m, err := stalled.ReadMessage(); err != nil || len(m) != 1<<20 {
			t.Fatalf("%d bytes, %v", len(m), err)
		}
	}
}

// socketBuffers returns how many bytes fit what is between a host and a client that does not
// read: the buffers of four sockets as Linux limits them, those of the edge, and a message at
// the host.
func socketBuffers() int64 {
	all := int64(4 << 20)
	for _, name := range []string{"tcp_wmem", "tcp_rmem"} {
		text, _ := os.ReadFile("/proc/sys/net/ipv4/" + name)
		most := int64(16 << 20) // on other systems
		var least, usual int64
		_, _ = fmt.Sscan(string(text), &least, &usual, &most)
		all += 2 * most
	}
	return all
}

// Flow control is end to end: the host can write only what fits the sockets in
// between, for as long as the client is slow. Then the lane ends with a close
// code at both ends.
func TestBackPressureReachesTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		var sent atomic.Int64
		hosts := make(chan *ws.Conn, 1)
		u := startUplink(t, n, UplinkOptions{Conn: ws.Options{WriteStall: time.Hour, DeadAfter: 2 * time.Hour}, Serve: func(ctx context.Context, c *ws.Conn, _ LaneInfo) {
			hosts <- c
			go func() { _, _ = c.ReadMessage() }()
			for c.WriteBatch([][]byte{[]byte(randomText(1000))}) == nil {
				sent.Add(1000)
			}
		}})
		u.await(t, Registered)
		stalled := dialHost(t, n, "laptop", userToken, ws.Options{})
		synctest.Wait()
		at := sent.Load()
		if at > 2*256<<10+64<<10 {
			t.Errorf("%d bytes went into two sockets of 256 KiB and a buffer", at)
		}
		time.Sleep(19 * time.Second)
		if sent.Load() != at || e.Stats().Lanes != 1 {
			t.Errorf("the lane sent more or ended: %d, %+v", sent.Load(), e.Stats())
		}
		began := time.Now()
		for e.Stats().Lanes == 1 {
			time.Sleep(time.Second)
		}
		if time.Since(began) > 25*time.Second || e.Stats().Slow != 1 {
			t.Errorf("the lane ended after %s more, %+v", time.Since(began), e.Stats())
		}
		host := <-hosts
		host.Wait()
		if ce, ok := host.Err().(*ws.CloseError); !ok || ce.Code != ws.CodeSlow {
			t.Errorf("the uplink reports %v", host.Err())
		}
		_ = stalled
	})
}

// A large message and a long stream of small ones arrive complete and in order.
func TestLargeMessageAndLongStream(t *testing.T) {
	n := kernel()
	startEdge(t, n, EdgeOptions{})
	large := randomText(10 << 20)
	u := startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, _ LaneInfo) {
		defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "") })()
		if _, err := c.ReadMessage(); err != nil {
			return
		}
		_ = c.WriteBatch([][]byte{[]byte(large)})
		_ = c.Stream(func(w io.Writer) error { _, err := io.WriteString(w, large); return err })
		for i := range 20_000 {
			if c.WriteBatch([][]byte{event(i)}) != nil {
				return
			}
		}
		c.Close(ws.CodeNormal, "that was all")
	}})
	u.await(t, Registered)
	c := dialHost(t, n, "laptop", userToken, ws.Options{})
	_ = c.WriteBatch([][]byte{[]byte("go")})
	for range 2 {
		if m, err := c.ReadMessage(); err != nil || string(m) != large {
			t.Fatalf("%d bytes, %v", len(m), err)
		}
	}
	for i := range 20_000 {
		if m, err := c.ReadMessage(); err != nil || string(m) != string(event(i)) {
			t.Fatalf("event %d: %.40q, %v", i, m, err)
		}
	}
	wantClose(t, c, ws.CodeNormal, "that was all")
}

func event(i int) []byte { return []byte("data: " + time.Duration(i).String()) }
