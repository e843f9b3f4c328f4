package peer

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// bundle is a Shared that counts how often it was framed.
type bundle struct {
	messages [][]byte
	once     sync.Once
	framed   []byte
	made     int
}

func newBundle(n, size int) *bundle {
	b := &bundle{}
	for i := range n {
		b.messages = append(b.messages, fmt.Appendf(nil, "%d%s", i, strings.Repeat("m", size)))
	}
	return b
}

func (b *bundle) Messages() [][]byte { return b.messages }

func (b *bundle) Size() (n int) {
	for _, m := range b.messages {
		n += len(m)
	}
	return n
}

func (b *bundle) Framed(frame func([][]byte) []byte) []byte {
	b.once.Do(func() { b.framed, b.made = frame(b.messages), b.made+1 })
	return b.framed
}

// Many peers receive shared messages in order among other frames, whether the socket
// takes them at once or not. They are framed once.
func TestShared(t *testing.T) {
	for _, size := range []int{10, 100_000} { // written at once, and in several steps
		small, large := newBundle(3, size), newBundle(40, size)
		var want []string
		for _, m := range append(append(large.messages, []byte(`"between"`)), small.messages...) {
			want = append(want, string(m))
		}
		push := func(p *Peer) {
			p.PushShared(large)
			p.Push(text(`"between"`))
			p.PushShared(small)
		}
		opts := Options{QueueBytes: 64 << 20}
		for range 3 {
			url, hosts := tcpHost(t, HandlerFunc(nil), opts)
			g := dialTCP(t, url)
			host := <-hosts
			go push(host)
			for i := range want {
				if _, got, err := g.ReadMessage(); err != nil || string(got) != want[i] {
					t.Fatalf("message %d: %.40q, %v; want %.40q", i, got, err, want[i])
				}
			}
			g.Close()
			<-host.Done()
			host.Wait()
			if n := host.out.bytes; n != 0 {
				t.Errorf("%d bytes still count", n)
			}
		}
		if small.made != 1 || large.made != 1 {
			t.Errorf("framed %d and %d times, want once", small.made, large.made)
		}
	}
}

// A client, which masks its frames, can send shared messages.
func TestSharedMasked(t *testing.T) {
	got := make(chan string, 10)
	handler := HandlerFunc(func(_ context.Context, req *Request) { got <- req.Method })
	url, hosts := tcpHost(t, handler, Options{})
	conn, err := ws.Dial(t.Context(), url, ws.DialOptions{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	client := New(conn, handler, Options{})
	client.Start()
	b := &bundle{}
	for i := range 5 {
		b.messages = append(b.messages, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"m%d"}`, i))
	}
	client.PushShared(b)
	for i := range 5 {
		if m := <-got; m != fmt.Sprint("m", i) {
			t.Errorf("%s in place %d", m, i)
		}
	}
	client.Close(ws.CodeNormal, "")
	client.Wait()
	(<-hosts).Wait()
}

// A peer calls FlushShared before it sends a frame for itself alone, so shared frames
// that were published earlier come first.
func TestFlushShared(t *testing.T) {
	request := func(p *Peer) *Request { return &Request{peer: p, id: []byte("1")} }
	for name, own := range map[string]func(*Peer){
		"an answer":      func(p *Peer) { request(p).Reply(nil) },
		"a late answer":  func(p *Peer) { r := request(p); r.detached = true; r.Reply(nil) },
		"a refusal":      func(p *Peer) { request(p).Fail(ahp.Errorf(ahp.CodeNotFound, "no")) },
		"a snapshot":     func(p *Peer) { request(p).ReplyLazy(func() (ahp.Value, error) { return ahp.Null, nil }) },
		"a replay":       func(p *Peer) { request(p).ReplyParts(2, slices.Values([][]byte{[]byte("["), []byte("]")})) },
		"a notification": func(p *Peer) { _ = p.Notify("m", nil) },
		"a call":         func(p *Peer) { go p.Call(context.Background(), "m", nil) },
		"a large content": func(p *Peer) {
			request(p).ReplyStream(func(w io.Writer) error { _, err := w.Write([]byte("1")); return err })
		},
		"the end": func(p *Peer) { p.Close(ws.CodeNormal, "") },
	} {
		t.Run(name, func(t *testing.T) {
			var host *Peer
			url, hosts := tcpHost(t, HandlerFunc(nil), Options{FlushShared: func() { host.Push(text(`"before"`)) }})
			g := dialTCP(t, url)
			host = <-hosts
			own(host)
			host.out.flush(false)
			if _, got, err := g.ReadMessage(); err != nil || string(got) != `"before"` {
				t.Errorf("%s came first (%v)", got, err)
			}
			g.Close()
			<-host.Done()
			host.Wait()
		})
	}
}
