package host_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/sourcegraph/jsonrpc2"
	stock "github.com/sourcegraph/jsonrpc2/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

const (
	fanOut = 1000 // subscribers
	burst  = 32   // actions that are published before the benchmark waits for receivers
)

// BenchmarkFanOut publishes an action of about 300 bytes to 1,000 subscribers over
// loopback, and compares that with jsonrpc2's Notify on as many connections. Both run in
// one benchmark, which prints the ratio. The receivers only count bytes.
func BenchmarkFanOut(b *testing.B) {
	title := strings.Repeat("t", 150)
	var ours, theirs float64
	b.Run("host", func(b *testing.B) { ours = fanOutHost(b, title) })
	b.Run("jsonrpc2.Notify", func(b *testing.B) { theirs = fanOutStock(b, title) })
	if theirs > 0 {
		b.Logf("fan-out to %d: %.0f deliveries/s, jsonrpc2.Notify %.0f/s: %.1f x", fanOut, ours, theirs, ours/theirs)
	}
}

func fanOutHost(b *testing.B, title string) float64 {
	h, _ := serve(b, host.Options{})
	got := &counters{}
	for i := range fanOut {
		var raw net.Conn
		_, agent := h.Tokens()
		c, err := ws.Dial(b.Context(), h.Endpoints().AHP, ws.DialOptions{Token: agent, NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			raw = conn
			return conn, err
		}})
		if err != nil {
			b.Fatal(err)
		}
		send(b, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientId":"c%d","protocolVersions":["0.6.0"],"initialSubscriptions":[%q]}}`, i, host.DefaultSession))
		receive(b, c)
		got.count(b, raw)
	}
	publish := func() {
		err := h.Log().Update(func(tx *channels.Tx) error {
			return tx.Append(host.DefaultSession, session.TitleChanged{Title: title})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	probe := dial(b, h, "probe", host.DefaultSession)
	publish()
	size := got.first(len(receive(b, probe)))
	deliveries := 0
	start := time.Now()
	for b.Loop() {
		for range burst {
			publish()
		}
		deliveries += burst * fanOut
		got.wait(deliveries/fanOut*size - fanOut*8) // numbers in the envelope may grow
	}
	return report(b, deliveries, start)
}

func fanOutStock(b *testing.B, title string) float64 {
	up := websocket.Upgrader{}
	var mu sync.Mutex
	var conns []*jsonrpc2.Conn
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, jsonrpc2.NewConn(context.Background(), stock.NewObjectStream(c), nil))
	}))
	b.Cleanup(func() {
		for _, c := range conns {
			_ = c.Close()
		}
		srv.Close()
	})
	got := &counters{}
	var probe *websocket.Conn
	for range fanOut + 1 { // the first message shows the length of all
		var raw net.Conn
		d := websocket.Dialer{NetDial: func(network, addr string) (net.Conn, error) {
			conn, err := net.Dial(network, addr)
			raw = conn
			return conn, err
		}}
		c, _, err := d.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
		if err != nil {
			b.Fatal(err)
		}
		if probe == nil {
			probe = c
			continue
		}
		got.count(b, raw)
	}
	for ready := false; !ready; {
		mu.Lock()
		ready = len(conns) == fanOut+1
		mu.Unlock()
	}
	publish := func(seq int64) {
		e := ahp.ActionEnvelope{Channel: host.DefaultSession, Action: ahp.Value(`{"type":"session/titleChanged","title":"` + title + `"}`), ServerSeq: seq}
		for _, c := range conns {
			if err := c.Notify(context.Background(), "action", e); err != nil {
				b.Fatal(err)
			}
		}
	}
	publish(1)
	_, msg, err := probe.ReadMessage()
	if err != nil {
		b.Fatal(err)
	}
	size := got.first(len(msg))
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for err == nil {
			_, _, err = probe.ReadMessage()
		}
	}()
	b.Cleanup(func() { _ = probe.Close(); <-drained })
	deliveries := 0
	start := time.Now()
	for b.Loop() {
		publish(2)
		deliveries += fanOut
		got.wait(deliveries / fanOut * size)
	}
	return report(b, deliveries, start)
}

func report(b *testing.B, deliveries int, start time.Time) float64 {
	rate := float64(deliveries) / time.Since(start).Seconds()
	b.ReportMetric(rate, "deliveries/s")
	return rate
}

// counters counts the bytes that arrive at raw sockets.
type counters struct {
	mu    sync.Mutex
	total int
	moved sync.Cond
	once  sync.Once
}

func (c *counters) count(b *testing.B, raw net.Conn) {
	c.once.Do(func() { c.moved.L = &c.mu })
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := raw.Read(buf)
			c.mu.Lock()
			c.total += n
			c.mu.Unlock()
			c.moved.Signal()
			if err != nil {
				return
			}
		}
	})
	b.Cleanup(func() { _ = raw.Close(); wg.Wait() })
}

// first waits for the first message with n bytes of payload, resets the counts, and
// returns the message's length on the wire.
func (c *counters) first(n int) int {
	const header = 4 // of a message of 126 to 65,535 bytes
	size := fanOut * (n + header)
	c.wait(size)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = 0
	return size
}

func (c *counters) wait(total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.total < total {
		c.moved.Wait()
	}
}

// BenchmarkContentRead reads 1 MiB of content with the Go client, and compares that with
// a GET of the same bytes from net/http. The host encodes the first read and caches it.
func BenchmarkContentRead(b *testing.B) {
	for _, kind := range []struct {
		name, contentType string
		data              []byte
	}{
		{"text", "text/plain", bytes.Repeat([]byte("A line of plain text with \"quotes\" in it.\n"), (1<<20)/42)},
		{"blob", "application/octet-stream", bytes.Repeat([]byte{0xff, 0x00, 0x9d, 0x80}, 1<<18)},
	} {
		var get, first, second float64
		b.Run(kind.name+"/GET", func(b *testing.B) { get = readHTTP(b, kind.data) })
		b.Run(kind.name+"/first", func(b *testing.B) { first = readCanvas(b, kind.data, kind.contentType, false) })
		b.Run(kind.name+"/second", func(b *testing.B) { second = readCanvas(b, kind.data, kind.contentType, true) })
		if get > 0 {
			b.Logf("1 MiB %s: first read %.2f x, second %.2f x of GET", kind.name, first/get, second/get)
		}
	}
}

func readHTTP(b *testing.B, data []byte) float64 {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }))
	b.Cleanup(srv.Close)
	c := httpClient(b)
	b.SetBytes(int64(len(data)))
	start, n := time.Now(), 0
	for b.Loop() {
		resp, err := c.Get(srv.URL)
		if err != nil {
			b.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(got) != len(data) {
			b.Fatal(len(got), err)
		}
		n++
	}
	return float64(n) / time.Since(start).Seconds()
}

// fixed serves one resource. Without an ETag the host does not cache it.
type fixed struct{ content canvas.Content }

func (f fixed) Open(_ context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
	return canvas.Opened{Instance: f, URL: canvas.ContentURL(req.InstanceID, "data")}, nil
}

func (fixed) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (fixed) Close(context.Context) error                                  { return nil }

func (f fixed) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if f.content.ETag != "" && req.ETag == f.content.ETag {
		return canvas.Content{ETag: req.ETag, NotModified: true}, nil
	}
	return f.content, nil
}

func readCanvas(b *testing.B, data []byte, contentType string, cached bool) float64 {
	h, _ := serve(b, host.Options{})
	content := canvas.Content{Data: data, ContentType: contentType}
	if cached {
		content.ETag = `"1"`
	}
	_, err := h.Canvases().Register(canvas.Extension{ID: "fixed"}, fixed{content}, canvas.Declaration{CanvasID: "data", DisplayName: "Data"})
	if err != nil {
		b.Fatal(err)
	}
	open, err := h.Canvases().Open(b.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "data", InstanceID: "i1"})
	if err != nil {
		b.Fatal(err)
	}
	_, agent := h.Tokens()
	c, err := client.Dial(b.Context(), h.Endpoints().AHP, client.Options{Token: agent, ClientID: "c1", Capabilities: ahp.ClientCapabilities{"canvas": ahp.Value("{}")}, Subscriptions: []string{open.Channel}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	b.SetBytes(int64(len(data)))
	start, n := time.Now(), 0
	for b.Loop() {
		got, err := c.ReadResource(b.Context(), open.Channel, open.URL)
		if err != nil || len(got.Data) != len(data) {
			b.Fatal(err)
		}
		n++
	}
	return float64(n) / time.Since(start).Seconds()
}
