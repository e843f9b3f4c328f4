package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// receivers are many subscribers that only count the messages that arrive, by
// their mark. They share the processors with the server, and their cost is in
// every side's figure, so they do as little as possible.
type receivers struct {
	sockets sockets
	joined  int
	timeout time.Duration // for a wait

	total atomic.Int64
	want  atomic.Int64 // the total that wait waits for

	mu    sync.Mutex
	moved *sync.Cond
	err   error
}

func newReceivers() *receivers {
	c := &receivers{timeout: 20 * time.Second}
	c.moved = sync.NewCond(&c.mu)
	return c
}

// join connects n subscribers to a side.
func (c *receivers) join(ctx context.Context, kind string, p *proc.Process, n int, channel string) error {
	for i := range n {
		conn, err := dialer(kind)(ctx, p, fmt.Sprint("receiver", c.joined), channel)
		if err != nil {
			return fmt.Errorf("subscriber %d: %w", i, err)
		}
		c.joined++
		if err := c.sockets.add(conn, c.count); err != nil {
			return fmt.Errorf("subscriber %d: %w", i, err)
		}
	}
	return nil
}

// tail is the end of what a connection has received, in which a mark that is
// split between two reads can begin.
type tail struct {
	b [len(sides.Mark) - 1]byte
	n int
}

// lead is the space that a read leaves at the start of its buffer for the tail.
const lead = len(sides.Mark) - 1

// count counts the marks in n bytes that were read into buf[lead:], and records
// the error of that read.
func (c *receivers) count(t *tail, buf []byte, n int, err error) {
	from := lead - copy(buf[lead-t.n:lead], t.b[:t.n])
	b := buf[from : lead+n]
	marks := bytes.Count(b, []byte(sides.Mark))
	t.n = copy(t.b[:], b[max(0, len(b)-lead):])
	if c.total.Add(int64(marks)) >= c.want.Load() || err != nil {
		c.wake(err)
	}
}

// wake ends a wait, with an error if a connection has ended.
func (c *receivers) wake(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.err = err
	}
	c.moved.Broadcast()
}

// wait waits until total messages have arrived in all.
func (c *receivers) wait(total int) error {
	timer := time.AfterFunc(c.timeout, func() {
		c.wake(fmt.Errorf("%d of %d messages have arrived in %v", c.total.Load(), total, c.timeout))
	})
	defer timer.Stop()
	c.want.Store(int64(total))
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.total.Load() < int64(total) && c.err == nil {
		c.moved.Wait()
	}
	if n := c.total.Load(); n > int64(total) {
		return fmt.Errorf("%d messages arrived, want %d", n, total)
	}
	return c.err
}

func (c *receivers) close() {
	c.sockets.close()
	runtime.GC()
}

type dialFunc func(ctx context.Context, p *proc.Process, id, channel string) (net.Conn, error)

func dialer(kind string) dialFunc {
	switch kind {
	case "centrifuge":
		return dialCentrifuge
	case "nats":
		return dialNATS
	case "notify":
		return dialNotify
	case "limit":
		return dialLimit
	}
	return dialHost
}

// bare returns a dialer that stores the TCP connection of a WebSocket in raw.
func bare(raw *net.Conn) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		*raw = conn
		return conn, err
	}
}

func dialHost(ctx context.Context, p *proc.Process, id, channel string) (raw net.Conn, err error) {
	_, _, err = sides.Dial(ctx, p.Hello.Addr, p.Hello.Token, id, ws.DialOptions{NetDial: bare(&raw)}, channel)
	return raw, err
}

func dialNotify(ctx context.Context, p *proc.Process, _, _ string) (raw net.Conn, err error) {
	d := websocket.Dialer{NetDialContext: bare(&raw)}
	_, _, err = d.DialContext(ctx, p.Hello.Addr, nil)
	return raw, err
}

func dialCentrifuge(ctx context.Context, p *proc.Process, _, _ string) (raw net.Conn, err error) {
	d := websocket.Dialer{NetDialContext: bare(&raw)}
	c, _, err := d.DialContext(ctx, p.Hello.Addr, nil)
	if err != nil {
		return nil, err
	}
	if err := c.WriteMessage(websocket.TextMessage, []byte(`{"id":1,"connect":{}}`)); err != nil {
		return nil, err
	}
	_, msg, err := c.ReadMessage()
	if err == nil && !bytes.Contains(msg, []byte(`"news"`)) {
		err = errors.New("centrifuge did not subscribe")
	}
	return raw, err
}

func dialLimit(ctx context.Context, p *proc.Process, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", p.Hello.Addr)
}

func dialNATS(ctx context.Context, p *proc.Process, _, _ string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.Hello.Addr)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB news 1\r\nPING\r\n"); err != nil {
		return nil, err
	}
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(line, "PONG") {
			return conn, nil
		}
	}
}
