package peer

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// TestDefaults: the defaults of ahp/PROTOCOL.md section 13 and of the comments on the
// fields. The behavior at each limit is tested with smaller ones.
func TestDefaults(t *testing.T) {
	want := Options{
		QueueBytes: 8 << 20, Replies: 16, InboxMessages: 4096, InboxBytes: 16 << 20, MessageBurst: 1,
		MaxValues: 16384, MaxDepth: 64, CallTimeout: 30 * time.Second, Calls: 32, CallQueue: 4096, Abandoned: 64,
		Tasks: 32, Contents: 2, AllContents: 8, TaskQueue: 1024, FlushTimeout: 5 * time.Second,
	}
	have := Options{}.withDefaults()
	if have.Logger, have.FlushShared = nil, nil; !reflect.DeepEqual(have, want) {
		t.Errorf("have %+v, want %+v", have, want)
	}
}

// The queue for a peer that does not read may have 8 MiB, and not a byte more.
func TestTheQueueHas8MiB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{})
		host, _ := s.raw(t)
		s.wires[0].Freeze()
		for range 8 {
			host.Push(text(strings.Repeat("x", 1<<20)))
		}
		synctest.Wait()
		if err := host.Err(); err != nil {
			t.Fatal(err)
		}
		host.Push(text("x"))
		synctest.Wait()
		if ws.CodeOf(host.Err()) != ws.CodeSlow {
			t.Errorf("8 MiB and a byte: %v", host.Err())
		}
	})
}

// 32 calls may be in flight. The next one is sent when one of them is answered.
func TestThirtyTwoCallsAreInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{})
		host, c := s.raw(t)
		for range 33 {
			go func() { _, _ = host.Call(t.Context(), "m", nil) }()
		}
		for range 31 {
			_ = c.receive()
		}
		last := c.receive()
		next := make(chan string, 1)
		go func() { next <- c.receive() }()
		synctest.Wait()
		if len(next) > 0 {
			t.Fatalf("33 calls are in flight: %s", <-next)
		}
		c.send(`{"jsonrpc":"2.0","id":` + idOf(t, last) + `,"result":1}`)
		<-next
	})
}

// Without a MessageBurst, the limit is four seconds of MessageRate.
func TestTheBurstIsFourSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{MessageRate: 10})
		host, c := s.raw(t)
		for range 40 {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			_ = c.receive()
		}
		c.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		synctest.Wait()
		if ws.CodeOf(host.Err()) != ws.CodePolicy {
			t.Errorf("the 41st: %v", host.Err())
		}
	})
}

// A content result of 32 KiB keeps its order. With one byte more, later frames are
// written first.
func TestContentsAbove32KiBYield(t *testing.T) {
	for size, want := range map[int]string{32 << 10: "full content after", 32<<10 + 1: "full after content"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
				req.GoContent(func(context.Context) {
					req.ReplyContent(ahp.Value(`"` + strings.Repeat("c", size-2) + `"`))
					req.Peer().Push(text("after"))
				})
			}), Options{})
			host, c := s.raw(t)
			host.Push(text("full" + strings.Repeat(" ", 1<<20))) // fills the socket
			c.send(`{"jsonrpc":"2.0","id":1,"method":"read"}`)
			synctest.Wait()
			var got []string
			for range 3 {
				msg := strings.TrimSpace(c.receive())
				if strings.Contains(msg, "ccc") {
					msg = "content"
				}
				got = append(got, msg)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%d bytes: have %q, want %q", size, got, want)
			}
		})
	}
}

// Reads of one canvas wait for each other only: two that do not end leave places for
// others, in order, and eight places are all that a connection has.
func TestContentsOfACanvas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var began []string
		ends := map[string]chan struct{}{}
		s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
			name, end := string(req.Params), make(chan struct{})
			req.GoContent(func(ctx context.Context) {
				mu.Lock()
				began, ends[name] = append(began, name), end
				mu.Unlock()
				select {
				case <-end:
				case <-ctx.Done():
				}
			})
		}), Options{})
		_, c := s.raw(t)
		id := 0
		read := func(path string) string {
			id++
			name := `{"uri":"ahp-canvas-content:/` + path + `"}`
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"read","params":%s}`, id, name))
			synctest.Wait()
			return name
		}
		shows := func(want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(began, want) {
				t.Fatalf("began %q, want %q", began, want)
			}
		}
		a1, a2, a3 := read("a/1"), read("a/2"), read("a/3?x")
		b1 := read("b")
		shows(a1, a2, b1)
		close(ends[a1])
		shows(a1, a2, b1, a3)
		want := []string{a1, a2, b1, a3}
		for _, owner := range []string{"c", "d", "e", "f", "g"} {
			want = append(want, read(owner+"/"))
		}
		a4, last := read("a/4"), read("h")
		shows(want...) // eight run
		close(ends[b1])
		want = append(want, last) // a/4 has waited longer, but its canvas has two
		shows(want...)
		close(ends[a2])
		shows(append(want, a4)...)
	})
}

// The requests of running and waiting tasks may have 16 MiB, and not a byte more,
// however few they are.
func TestWhatTasksHoldHas16MiB(t *testing.T) {
	for name, leave := range map[string]func(*Request, func(context.Context)){"Go": (*Request).Go, "GoContent": (*Request).GoContent} {
		synctest.Test(t, func(t *testing.T) {
			var end context.CancelFunc
			s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
				leave(req, func(ctx context.Context) {
					mine, cancel := context.WithCancel(ctx)
					defer cancel()
					if end == nil {
						end = cancel
					}
					<-mine.Done()
				})
			}), Options{Tasks: 3, Contents: 3})
			host, c := s.raw(t)
			message := `{"jsonrpc":"2.0","id":1,"method":"m"}`
			send := func(size int) error {
				c.send(message + strings.Repeat(" ", size-len(message)))
				synctest.Wait()
				return host.Err()
			}
			for n := range 16 {
				if err := send(1 << 20); err != nil {
					t.Fatalf("%s: %d MiB: %v", name, n+1, err)
				}
			}
			end()
			synctest.Wait() // its bytes are released
			if err := send(1 << 20); err != nil {
				t.Fatalf("%s: 16 MiB after one has ended: %v", name, err)
			}
			if err := send(len(message)); ws.CodeOf(err) != ws.CodePolicy {
				t.Errorf("%s: 16 MiB and one: %v", name, err)
			}
		})
	}
}
