package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

// reader reads content over AHP with the Go client, and the same bytes with
// net/http.
type reader struct {
	e       *Env
	host    *proc.Process
	web     *proc.Process
	http    *http.Client
	client  *client.Client
	channel string
	page    string // the canvas's content URI, to which a path is appended
	fresh   int    // the number of resources made up so far
	warm    []byte
	frame   *proc.Process
	frames  *ws.Conn
}

func content(e *Env) ([]figure.Figure, error) {
	r := &reader{e: e, http: &http.Client{Transport: &http.Transport{}}}
	e.Cleanup(r.http.CloseIdleConnections)
	if err := r.begin(); err != nil {
		return nil, err
	}
	var figures []figure.Figure
	for _, size := range []int{100 << 10, 1 << 20, 10 << 20} {
		for _, kind := range []string{"text", "blob"} {
			f, err := r.compare(kind, size)
			if err != nil {
				return nil, fmt.Errorf("%s of %d bytes: %w", kind, size, err)
			}
			figures = append(figures, f...)
		}
	}
	for _, kind := range []string{"text", "blob"} {
		f, err := r.heap(kind)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

func (r *reader) begin() (err error) {
	if r.host, err = r.e.start("host"); err != nil {
		return err
	}
	if r.web, err = r.e.start("http"); err != nil {
		return err
	}
	if r.frame, err = r.e.start("frames"); err != nil {
		return err
	}
	open, err := r.host.Call(proc.Request{Do: "open", N: 1})
	if err != nil {
		return err
	}
	r.channel, r.page = open.Channel, open.Addr
	r.client, err = r.dial("reader")
	return err
}

func (r *reader) dial(id string) (*client.Client, error) {
	c, err := client.Dial(r.e.Ctx, r.host.Hello.Addr, client.Options{Token: r.host.Hello.Token, ClientID: id, Subscriptions: []string{r.channel}})
	if err == nil {
		r.e.Cleanup(c.Close)
	}
	return c, err
}

// compare reads the same bytes in turns over AHP, a first and a second time,
// and with net/http in three ways.
//
// The target is relative to a GET into a new slice of Content-Length. It owns
// the result, like a caller of our client, and never grows a slice, unlike a
// caller of io.ReadAll. The other two have no target: a GET with io.ReadAll, as
// most people write it, and one into a reused buffer, whose content the
// caller cannot keep. The last figure is the limit of our protocol: the encoded bytes as one
// WebSocket message that is read and not decoded.
func (r *reader) compare(kind string, size int) ([]figure.Figure, error) {
	reads := min(max((10<<20)/size, 3), 60)
	ways := []func() error{
		func() error { return r.get(kind, size, fresh) },
		func() error { return r.read(r.client, kind, size, r.newQuery()) },
		func() error { return r.read(r.client, kind, size, "") },
		func() error { return r.get(kind, size, io.ReadAll) },
		func() error { return r.get(kind, size, r.intoWarm) },
		func() error { return r.raw(kind, size) },
	}
	rates := make([][]float64, len(ways))
	for round := range r.e.Rounds(7) + 1 {
		for i, way := range ways {
			runtime.GC() // no way pays for another one's garbage
			begun := time.Now()
			for range reads {
				if err := way(); err != nil {
					return nil, err
				}
			}
			if round > 0 { // the first round warms up and fills the cache for the second read
				rates[i] = append(rates[i], float64(reads*size)/1e6/time.Since(begun).Seconds())
			}
		}
	}
	what := fmt.Sprintf("%s of %s, ", kind, sizeName(size))
	return []figure.Figure{
		{What: what + "first read", Unit: "MB/s", Peer: "net/http GET", Ours: rates[1], Theirs: rates[0], Target: figure.Target{AtLeast: 0.3}},
		{What: what + "second read", Unit: "MB/s", Peer: "net/http GET", Ours: rates[2], Theirs: rates[0], Target: figure.Target{AtLeast: 0.5}},
		{What: what + "second read", Unit: "MB/s", Peer: "GET with io.ReadAll", Ours: rates[2], Theirs: rates[3]},
		{What: what + "second read", Unit: "MB/s", Peer: "GET into a warm buffer", Ours: rates[2], Theirs: rates[4]},
		{What: what + "second read", Unit: "MB/s", Peer: "the encoded bytes as a raw message", Ours: rates[2], Theirs: rates[5]},
	}, nil
}

func sizeName(n int) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// newQuery names a resource that no cache has.
func (r *reader) newQuery() string {
	r.fresh++
	return fmt.Sprintf("?%d", r.fresh)
}

func (r *reader) get(kind string, size int, body func(io.Reader) ([]byte, error)) error {
	resp, err := r.http.Get(r.web.Hello.Addr + "/" + sides.Path(kind, size))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := body(&sized{resp.Body, int(resp.ContentLength)})
	if err == nil && len(b) != size {
		err = fmt.Errorf("GET returned %d bytes", len(b))
	}
	return err
}

// sized is a body with its Content-Length.
type sized struct {
	io.Reader
	n int
}

// fresh reads into a new slice of the right size.
func fresh(body io.Reader) ([]byte, error) {
	b := make([]byte, body.(*sized).n)
	_, err := io.ReadFull(body, b)
	return b, err
}

// intoWarm reads into a reused buffer.
func (r *reader) intoWarm(body io.Reader) ([]byte, error) {
	if r.warm == nil {
		r.warm = make([]byte, 10<<20)
	}
	b := r.warm[:body.(*sized).n]
	_, err := io.ReadFull(body, b)
	return b, err
}

// raw requests a message of the size of the encoded result and reads it.
func (r *reader) raw(kind string, size int) error {
	if r.frames == nil {
		c, err := ws.Dial(r.e.Ctx, r.frame.Hello.Addr, ws.DialOptions{})
		if err != nil {
			return err
		}
		r.e.Cleanup(func() { c.Close(ws.CodeNormal, ""); c.Wait() })
		r.frames = c
	}
	if err := r.frames.WriteBatch([][]byte{[]byte(sides.Path(kind, size))}); err != nil {
		return err
	}
	msg, err := r.frames.ReadMessage()
	if err == nil && len(msg) < size {
		err = fmt.Errorf("the message has %d bytes", len(msg))
	}
	return err
}

func (r *reader) read(c *client.Client, kind string, size int, query string) error {
	got, err := c.ReadResource(r.e.Ctx, r.channel, r.page+sides.Path(kind, size)+query)
	if err == nil && len(got.Data) != size {
		err = fmt.Errorf("the read returned %d bytes", len(got.Data))
	}
	return err
}

// heap measures the host's heap for a first read of 10 MiB in progress: the
// peak while four clients make two reads each, above the heap before. The cache
// does not count, because it is equally full before and after.
func (r *reader) heap(kind string) (figure.Figure, error) {
	const size, clients, each = 10 << 20, 4, 2
	f := figure.Figure{What: "host heap per first read of 10 MiB in flight, " + kind, Unit: "MiB", Target: figure.Target{AtMost: 1}}
	for round := range r.e.Rounds(3) + 1 {
		before, err := r.host.Call(proc.Request{Do: "memory"})
		if err != nil {
			return f, err
		}
		ctx, cancel := context.WithCancel(r.e.Ctx)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var failed error
		for range clients {
			c, err := r.dial(fmt.Sprint("heap", r.newQuery()))
			if err != nil {
				cancel()
				return f, err
			}
			for range each {
				r.fresh += 100
				from := r.fresh
				wg.Go(func() {
					for i := 0; i == 0 || ctx.Err() == nil; i++ {
						err := r.read(c, kind, size, fmt.Sprintf("?h%d", from+i))
						mu.Lock()
						failed = errors.Join(failed, err)
						mu.Unlock()
					}
				})
			}
		}
		peak, err := r.host.Call(proc.Request{Do: "peak", N: r.e.Pick(600, 300)})
		cancel()
		wg.Wait()
		if err = errors.Join(err, failed); err != nil {
			return f, err
		}
		if round > 0 { // the first round fills the cache
			f.Ours = append(f.Ours, float64(peak.Heap-before.Heap)/(clients*each)/(1<<20))
		}
	}
	return f, nil
}
