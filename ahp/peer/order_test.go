package peer

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Handle is called in the order of arrival, one call at a time, and answers and
// pushes are written in their order.
func TestOrderOfOneConnection(t *testing.T) {
	const n = 5000
	var inside atomic.Int32
	next := 0
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		if inside.Add(1) != 1 {
			t.Error("two handlers at once")
		}
		defer inside.Add(-1)
		var p struct {
			N int `json:"n"`
		}
		if err := req.Decode(&p); err != nil || p.N != next {
			t.Errorf("have %d (%v), want %d", p.N, err, next)
		}
		next++
		if next%3 == 0 {
			_ = req.Peer().Notify("also", nil)
		}
		req.Reply(p.N)
	}), Options{InboxMessages: 2 * n})
	_, c := s.raw(t)
	go func() {
		for i := range n {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"n":%d}}`, i, i))
		}
	}()
	for i := range n {
		if (i+1)%3 == 0 {
			if got := c.receive(); got != `{"jsonrpc":"2.0","method":"also"}` {
				t.Fatal(got)
			}
		}
		if got, want := c.receive(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, i, i); got != want {
			t.Fatalf("have %s, want %s", got, want)
		}
	}
}

// The reader continues while a handler hangs, so that calls get their answers.
func TestReaderWaitsForNoHandler(t *testing.T) {
	hang := make(chan struct{})
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) { <-hang }), Options{})
	host, client := s.client(t, echo, Options{})
	_ = client.Notify("m", nil)
	mustCall(t, host, "m", nil)
	close(hang)
}

// ending is an EndHandler.
type ending struct {
	HandlerFunc
	closed func(error)
}

func (e *ending) Closed(err error) { e.closed(err) }

// At the end, messages that were read before are handled, then Closed is called once,
// and then Done is closed.
func TestEnd(t *testing.T) {
	var handled []string
	release := make(chan struct{})
	closed := make(chan error, 2)
	s := newStack(t, &ending{HandlerFunc(func(_ context.Context, req *Request) {
		<-release
		handled = append(handled, req.Method)
	}), func(err error) {
		handled = append(handled, "closed")
		closed <- err
	}}, Options{})
	host, c := s.raw(t)
	for _, m := range []string{"a", "b", "c"} {
		c.send(`{"jsonrpc":"2.0","method":"` + m + `"}`)
	}
	_ = c.ws.WriteControl(8, []byte{0x03, 0xE8}, time.Time{})
	_ = c.receiveClose()
	select {
	case <-host.Done():
		t.Error("done while messages wait")
	default:
	}
	close(release)
	if err := within(t, closed); ws.CodeOf(err) != ws.CodeNormal {
		t.Error(err)
	}
	within(t, host.Done())
	host.Wait()
	if got := strings.Join(handled, " "); got != "a b c closed" {
		t.Error(got)
	}
	if len(closed) != 0 {
		t.Error("Closed was called twice")
	}
}

// Close writes the queued frames first.
func TestCloseFlushes(t *testing.T) {
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		req.Fail(ahp.Errorf(ahp.CodeUnsupportedProtocolVersion, "no"))
		req.Peer().Close(ws.CodeNormal, "no common version")
		req.Peer().Push(text(`"too late"`))
	}), Options{})
	_, c := s.raw(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	if got := c.receive(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"no"}}` {
		t.Error(got)
	}
	if _, _, err := c.ws.ReadMessage(); err == nil || !strings.Contains(err.Error(), "no common version") {
		t.Error(err)
	}
}

func TestCloseDoesNotWaitForASlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{})
		host, _ := s.raw(t)
		s.wires[0].Freeze()
		host.Push(text(strings.Repeat("x", 1<<20)))
		start := time.Now()
		host.Close(ws.CodeGoingAway, "")
		if time.Since(start) != 0 {
			t.Error("Close waited")
		}
		host.Wait()
		if d := time.Since(start); d > 10*time.Second || ws.CodeOf(host.Err()) != ws.CodeGoingAway {
			t.Errorf("%v after %s", host.Err(), d)
		}
	})
}

// A peer that reads nothing is closed with CodeSlow as soon as its queue is full. The
// others get everything.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{QueueBytes: 1 << 20})
		slow, _ := s.raw(t)
		s.wires[0].Freeze()
		const n = 3000
		var wg sync.WaitGroup
		var healthy []*Peer
		for range 3 {
			p, c := s.raw(t)
			healthy = append(healthy, p)
			wg.Go(func() {
				for i := range n {
					if got := c.receive(); got[:6] != fmt.Sprintf("%06d", i) {
						t.Errorf("have %s at %d", got[:6], i)
						return
					}
				}
			})
		}
		start := time.Now()
		for i := range n {
			f := text(fmt.Sprintf("%06d", i) + strings.Repeat("x", 1000))
			for _, p := range append(healthy, slow) {
				p.Push(f)
			}
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		wg.Wait()
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("the healthy ones waited %s", d)
		}
		if ws.CodeOf(slow.Err()) != ws.CodeSlow {
			t.Errorf("the slow one: %v", slow.Err())
		}
		slow.Wait()
		for _, p := range healthy {
			if p.Err() != nil {
				t.Error(p.Err())
			}
		}
	})
}

// An exempt frame does not count toward the limit. A lazy one counts once it is
// encoded.
func TestBudget(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		push func(*Peer)
		code ws.CloseCode
	}{
		"eager":  {func(p *Peer) { p.Push(text(big)) }, ws.CodeSlow},
		"lazy":   {func(p *Peer) { p.Push(lazy(func() []byte { return []byte(big) })) }, ws.CodeSlow},
		"exempt": {func(p *Peer) { p.out.pushOwn(exempt{Frame: text(big)}) }, 0},
		"answer": {func(p *Peer) {
			(&Request{peer: p, id: []byte("1")}).ReplyLazy(func() (ahp.Value, error) { return ahp.Value(`"` + big + `"`), nil })
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, echo, Options{QueueBytes: 2 << 20})
				host, client := s.raw(t)
				go func() { _, _, _ = client.ws.ReadMessage() }()
				c.push(host)
				host.out.flush(false)
				synctest.Wait()
				if got := ws.CodeOf(host.Err()); got != c.code {
					t.Errorf("closed with %d (%v), want %d", got, host.Err(), c.code)
				}
			})
		})
	}
}

// A large content result never overtakes a frame that was queued before the writer
// took it, and at most two are in memory.
func TestLargeContents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var atOnce, most atomic.Int32
		content := ahp.Value(`"` + strings.Repeat("c", 1<<20) + `"`)
		s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
			req.GoContent(func(context.Context) {
				most.Store(max(most.Load(), atOnce.Add(1)))
				req.ReplyContent(content)
			})
		}), Options{})
		host, c := s.raw(t)
		for i := range 5 {
			c.send(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i) + `,"method":"read"}`)
		}
		synctest.Wait() // the first result fills the socket, one waits, three requests wait
		if n := most.Load(); n != 2 {
			t.Errorf("%d at once, want 2", n)
		}
		for i := range 3 {
			host.Push(text(strconv.Itoa(i)))
		}
		var got []string
		for range 8 {
			msg := c.receive()
			if len(msg) > len(content) {
				msg = "content"
			}
			got = append(got, msg)
		}
		if want := "content 0 1 2 content content content content"; strings.Join(got, " ") != want {
			t.Errorf("have %q, want %q", got, want)
		}
	})
}

// A content stream that fails ends the connection, because half a message has been
// written.
func TestBrokenContent(t *testing.T) {
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		req.GoContent(func(context.Context) {
			req.ReplyStream(func(w io.Writer) error {
				_, _ = w.Write(make([]byte, 1<<20))
				return io.ErrUnexpectedEOF
			})
		})
	}), Options{})
	host, c := s.raw(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"read"}`)
	if code := c.receiveClose(); code != ws.CodeInternal {
		t.Error(code)
	}
	host.Wait()
}

// Every flood ends in a close with a code, and all goroutines stop.
func TestFloods(t *testing.T) {
	hang := HandlerFunc(func(ctx context.Context, req *Request) { <-ctx.Done() })
	for name, c := range map[string]struct {
		h    Handler
		opts Options
		say  string
		n    int
	}{
		"messages that wait":   {hang, Options{InboxMessages: 10}, `{"jsonrpc":"2.0","method":"m"}`, 12},
		"bytes that wait":      {hang, Options{InboxBytes: 5000}, `{"jsonrpc":"2.0","method":"m","params":{"x":"` + strings.Repeat("x", 1000) + `"}}`, 5},
		"bad input that waits": {hang, Options{InboxMessages: 10}, `x`, 12},
		"messages a second":    {echo, Options{MessageRate: 10, MessageBurst: 20}, `{"jsonrpc":"2.0","method":"m"}`, 21},
		"tasks that wait": {HandlerFunc(func(_ context.Context, req *Request) {
			req.Go(func(ctx context.Context) { <-ctx.Done() })
		}), Options{Tasks: 2, TaskQueue: 3}, `{"jsonrpc":"2.0","id":1,"method":"m"}`, 6},
		"contents that wait": {HandlerFunc(func(_ context.Context, req *Request) {
			req.GoContent(func(ctx context.Context) { <-ctx.Done() })
		}), Options{TaskQueue: 3}, `{"jsonrpc":"2.0","id":1,"method":"m"}`, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, c.h, c.opts)
				host, g := s.raw(t)
				if c.say == "x" {
					g.send(`{"jsonrpc":"2.0","method":"m"}`)
				}
				for range c.n - 1 {
					if err := host.Err(); err != nil {
						t.Fatal("too early", err)
					}
					g.send(c.say)
					synctest.Wait()
				}
				g.send(c.say)
				if code := g.receiveClose(); code != ws.CodePolicy {
					t.Errorf("closed with %d", code)
				}
				host.Wait()
			})
		})
	}
}

// The bucket fills again.
func TestMessageRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{MessageRate: 10, MessageBurst: 20})
		_, c := s.raw(t)
		for range 10 {
			for range 20 {
				c.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
				_ = c.receive()
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// Wait waits for tasks, whose context ends with the connection.
func TestWaitWaitsForTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
			req.Go(func(ctx context.Context) {
				<-ctx.Done()
				time.Sleep(time.Minute)
				ended.Store(true)
			})
		}), Options{})
		host, c := s.raw(t)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		synctest.Wait()
		c.ws.Close()
		host.Wait()
		if !ended.Load() {
			t.Error("the task still runs")
		}
	})
}
