package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

const missed = 1000 // envelopes

// reconnect resumes a client that missed 1,000 envelopes, and compares that
// with a bare server that sends one message of the same size. It also measures
// a client that gets the snapshot of a session with 256 open canvases. Each is
// read by the same client on a new connection, and measured from the request. A
// value is the median of five trips: a trip takes half a millisecond, and one
// during a garbage collection or another program's activity many times that.
func reconnect(e *Env) ([]figure.Figure, error) {
	host, err := e.start("host")
	if err != nil {
		return nil, err
	}
	bare, err := e.start("bare")
	if err != nil {
		return nil, err
	}
	c := &resumer{host: host, id: "resumer"}
	if err := c.begin(e.Ctx); err != nil {
		return nil, err
	}
	f := figure.Figure{What: "replay of 1,000 envelopes", Unit: "ms", Peer: "the same bytes, bare", Target: figure.Target{AtMost: 2}}
	for round := range e.Rounds(25) + 1 {
		var ours, theirs []float64
		for range reconnectTrips {
			took, size, err := c.replay(e.Ctx)
			if err != nil {
				return nil, err
			}
			limit, err := bareTrip(e.Ctx, bare, size)
			if err != nil {
				return nil, err
			}
			ours, theirs = append(ours, took.Seconds()*1e3), append(theirs, limit.Seconds()*1e3)
			f.Note = fmt.Sprintf("%d KB", size/1000)
		}
		if round >= 1 {
			f.Ours, f.Theirs = append(f.Ours, figure.Median(ours)), append(f.Theirs, figure.Median(theirs))
		}
	}
	snapshot, err := c.snapshots(e)
	return []figure.Figure{f, snapshot}, err
}

// reconnectTrips is the number of trips in one value.
const reconnectTrips = 5

// bareTrip has the bare side send size bytes on a new connection.
func bareTrip(ctx context.Context, bare *proc.Process, size int) (time.Duration, error) {
	conn, err := ws.Dial(ctx, bare.Hello.Addr, ws.DialOptions{})
	if err != nil {
		return 0, err
	}
	defer conn.Wait()
	defer conn.Close(ws.CodeNormal, "")
	begun := time.Now()
	msg, err := sides.Trip(conn, strconv.Itoa(size))
	took := time.Since(begun)
	if err == nil && len(msg) != size {
		err = fmt.Errorf("the bare side sent %d bytes, want %d", len(msg), size)
	}
	return took, err
}

// resumer is a client that reconnects repeatedly.
type resumer struct {
	host *proc.Process
	id   string
	conn *ws.Conn
	seen int64
}

func (c *resumer) begin(ctx context.Context) error {
	conn, hello, err := sides.Dial(ctx, c.host.Hello.Addr, c.host.Hello.Token, c.id, ws.DialOptions{}, c.host.Hello.Channel)
	c.conn, c.seen = conn, hello.ServerSeq
	return err
}

// replay closes the connection, has 1,000 actions published, and resumes.
func (c *resumer) replay(ctx context.Context) (time.Duration, int, error) {
	if err := c.leave(); err != nil {
		return 0, 0, err
	}
	published, err := c.host.Call(proc.Request{Do: "publish", N: missed})
	if err != nil {
		return 0, 0, err
	}
	if c.conn, err = ws.Dial(ctx, c.host.Hello.Addr, ws.DialOptions{Token: c.host.Hello.Token}); err != nil {
		return 0, 0, err
	}
	request := c.request()
	begun := time.Now()
	msg, err := sides.Trip(c.conn, request)
	took := time.Since(begun)
	if err != nil {
		return 0, 0, err
	}
	if n := bytes.Count(msg, []byte(sides.Mark)); n < missed || !bytes.Contains(msg, []byte(`"replay"`)) {
		return 0, 0, fmt.Errorf("%d envelopes were replayed, want %d: %.200s", n, missed, msg)
	}
	c.seen = published.N
	return took, len(msg), nil
}

func (c *resumer) leave() error {
	c.conn.Close(ws.CodeNormal, "")
	c.conn.Wait()
	return await(c.host, 0)
}

func (c *resumer) request() string {
	params := ahp.MustMarshal(ahp.ReconnectParams{ClientID: c.id, LastSeenServerSeq: c.seen, Subscriptions: []string{c.host.Hello.Channel}})
	return `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":` + string(params) + `}`
}

// snapshots opens 256 canvases and reads the session's snapshot. The session
// changes in between, so the host encodes the snapshot each time.
func (c *resumer) snapshots(e *Env) (figure.Figure, error) {
	f := figure.Figure{What: "snapshot of a session with 256 open canvases", Unit: "ms", Target: figure.Target{AtMost: 1}}
	if _, err := c.host.Call(proc.Request{Do: "open", N: 256}); err != nil {
		return f, err
	}
	for round := range e.Rounds(25) + 1 {
		var ours []float64
		for range reconnectTrips {
			if err := c.leave(); err != nil {
				return f, err
			}
			if _, err := c.host.Call(proc.Request{Do: "publish", N: 1}); err != nil {
				return f, err
			}
			took, size, err := c.fresh(e.Ctx)
			if err != nil {
				return f, err
			}
			ours = append(ours, took.Seconds()*1e3)
			f.Note = fmt.Sprintf("%d KB", size/1000)
		}
		if round >= 1 {
			f.Ours = append(f.Ours, figure.Median(ours))
		}
	}
	return f, nil
}

// fresh resumes from a sequence number that this client never received, so the
// host responds with snapshots.
func (c *resumer) fresh(ctx context.Context) (took time.Duration, size int, err error) {
	if c.conn, err = ws.Dial(ctx, c.host.Hello.Addr, ws.DialOptions{Token: c.host.Hello.Token}); err != nil {
		return 0, 0, err
	}
	c.seen = 1
	request := c.request()
	begun := time.Now()
	msg, err := sides.Trip(c.conn, request)
	took = time.Since(begun)
	if err == nil && (!bytes.Contains(msg, []byte(`"snapshots"`)) || bytes.Count(msg, []byte(`"instanceId"`)) != 256) {
		err = errors.New("no snapshot with 256 canvases: " + string(msg[:min(len(msg), 300)]))
	}
	return took, len(msg), err
}
