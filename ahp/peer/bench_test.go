package peer

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// tcpHost serves peers over loopback TCP.
func tcpHost(t testing.TB, h Handler, opts Options) (url string, hosts chan *Peer) {
	t.Helper()
	hosts = make(chan *Peer, 10000)
	guard := &ws.Guard{Tokens: []ws.Token{{Secret: "t"}}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := ws.Accept(w, r, ws.AcceptOptions{Guard: guard, Conn: ws.Options{ReadLimit: ws.MessageReadLimit}})
		if err != nil {
			t.Error(err)
			return
		}
		p := New(c, h, opts)
		p.Start()
		hosts <- p
	}))
	guard.Hosts = []string{srv.Listener.Addr().String()}
	t.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http"), hosts
}

// sharedFrame is an action of about 300 bytes.
func sharedFrame(t testing.TB) Frame {
	t.Helper()
	f, err := Notification("action", ahp.ActionEnvelope{
		Channel:   "ahp-canvas:/0b8f7a52-3f0e-4b8e-9d55-2f8b2a6a7c11",
		Action:    ahp.Value(`{"type":"canvas/updated","title":"` + strings.Repeat("x", 90) + `"}`),
		ServerSeq: 123456, Origin: &ahp.Origin{ClientID: "client-1", ClientSeq: 17},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// counter reads a socket to the end and counts its bytes.
type counter struct{ n atomic.Int64 }

func (c *counter) drain(r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		c.n.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// BenchmarkFanOut pushes one shared frame to many subscribers over loopback TCP, with
// both sides in one process. Each iteration pushes a burst, as a busy canvas does,
// and waits until all of it has arrived.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, burst := range []int{1, 32, 256} {
			b.Run(fmt.Sprintf("subscribers=%d/burst=%d", n, burst), func(b *testing.B) { fanOut(b, n, burst) })
		}
	}
}

func fanOut(b *testing.B, n, burst int) {
	url, hosts := tcpHost(b, echo, Options{})
	var got counter
	var wg sync.WaitGroup
	var peers []*Peer
	for range n {
		g, _, err := websocket.DefaultDialer.Dial(url, http.Header{"Authorization": {"Bearer t"}})
		if err != nil {
			b.Fatal(err)
		}
		defer g.Close()
		wg.Go(func() { got.drain(g.NetConn()) })
		peers = append(peers, <-hosts)
	}
	f := sharedFrame(b)
	framed := int64(f.Size() + 4)
	sent := int64(0)
	cpu := ahptest.CPU()
	start := time.Now()
	for b.Loop() {
		for range burst {
			for _, p := range peers {
				p.Push(f)
			}
		}
		sent += int64(n*burst) * framed
		for got.n.Load() < sent {
			runtime.Gosched()
		}
	}
	deliveries := float64(sent / framed)
	b.ReportMetric(deliveries/time.Since(start).Seconds(), "deliveries/s")
	b.ReportMetric(float64(ahptest.CPU()-cpu)/deliveries, "cpu-ns/delivery")
	for _, p := range peers { // all at once, because the clients do not answer close frames
		p.Close(ws.CodeNormal, "")
	}
	for _, p := range peers {
		p.Wait()
	}
	wg.Wait()
}

var (
	askParams = ahp.Value(`{"channel":"ahp-session:/default","canvasId":"board","instanceId":"board-1","input":{"text":"` + strings.Repeat("y", 160) + `"}}`)
	askResult = ahp.Value(`{"url":"ahp-canvas-content:/board-1/index.html","title":"Board","status":"ready, 12 cards"}`)
)

// BenchmarkCall compares a host's call to a client with the same bytes over bare
// gorilla, in the same run.
func BenchmarkCall(b *testing.B) {
	for _, flight := range []int{1, 16} {
		b.Run(fmt.Sprintf("inflight=%d", flight), func(b *testing.B) {
			var bare, ours cost
			for b.Loop() {
				bare = bare.plus(bareRoundTrips(b, flight))
				ours = ours.plus(peerRoundTrips(b, flight))
			}
			b.ReportMetric(ours.wall/bare.wall, "wall-ratio")
			b.ReportMetric(ours.cpu/bare.cpu, "cpu-ratio")
			b.ReportMetric(bare.wall/ours.wall, "throughput-ratio")
			b.ReportMetric(ours.allocs/float64(b.N), "allocs/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

type cost struct{ wall, cpu, allocs float64 }

func (c cost) plus(d cost) cost { return cost{c.wall + d.wall, c.cpu + d.cpu, c.allocs + d.allocs} }

// measure runs n round trips in flight goroutines, and returns the cost of each.
func measure(n, flight int, trip func() error) cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := ahptest.CPU(), time.Now()
	var wg sync.WaitGroup
	for range flight {
		wg.Go(func() {
			for range n / flight {
				if err := trip(); err != nil {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	c := cost{wall: float64(time.Since(start)) / float64(n), cpu: float64(ahptest.CPU()-cpu) / float64(n)}
	runtime.ReadMemStats(&after)
	c.allocs = float64(after.Mallocs-before.Mallocs) / float64(n)
	return c
}

const benchTrips = 8000

func peerRoundTrips(b *testing.B, flight int) cost {
	answer := HandlerFunc(func(_ context.Context, req *Request) { req.Reply(askResult) })
	url, hosts := tcpHost(b, echo, Options{})
	c, err := ws.Dial(b.Context(), url, ws.DialOptions{Token: "t"})
	if err != nil {
		b.Fatal(err)
	}
	client := New(c, answer, Options{})
	client.Start()
	host := <-hosts
	defer func() {
		client.Close(ws.CodeNormal, "")
		client.Wait()
		host.Wait()
	}()
	trip := func() error { _, err := host.Call(context.Background(), "canvasOpen", askParams); return err }
	measure(benchTrips/10, flight, trip)
	return measure(benchTrips, flight, trip)
}

// bareRoundTrips sends the same bytes with bare gorilla. One reader passes the
// answers to the callers in order.
func bareRoundTrips(b *testing.B, flight int) cost {
	accepted := make(chan *websocket.Conn, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			b.Error(err)
			return
		}
		accepted <- g
	}))
	defer srv.Close()
	client, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		b.Fatal(err)
	}
	host := <-accepted
	defer host.Close()
	defer client.Close()
	ask := methodFrame([]byte("12345"), "canvasOpen", askParams)
	answer := resultFrame([]byte("12345"), askResult)
	go func() {
		for {
			if _, _, err := client.ReadMessage(); err != nil {
				return
			}
			if client.WriteMessage(websocket.TextMessage, answer) != nil {
				return
			}
		}
	}()
	if flight == 1 { // the lower bound does not switch goroutines
		trip := func() error {
			if err := host.WriteMessage(websocket.TextMessage, ask); err != nil {
				return err
			}
			_, _, err := host.ReadMessage()
			return err
		}
		measure(benchTrips/10, 1, trip)
		return measure(benchTrips, 1, trip)
	}
	var mu sync.Mutex
	waiting := make(chan chan struct{}, flight)
	go func() {
		for {
			if _, _, err := host.ReadMessage(); err != nil {
				return
			}
			close(<-waiting)
		}
	}()
	trip := func() error {
		done := make(chan struct{})
		mu.Lock()
		waiting <- done
		err := host.WriteMessage(websocket.TextMessage, ask)
		mu.Unlock()
		<-done
		return err
	}
	measure(benchTrips/10, flight, trip)
	return measure(benchTrips, flight, trip)
}

// bareSocket connects a client that needs nothing but its socket.
func bareSocket(t testing.TB, url string) net.Conn {
	t.Helper()
	addr := strings.TrimPrefix(url, "ws://")
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(nc, "GET / HTTP/1.1\r\nHost: "+addr+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer t\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	return nc
}
