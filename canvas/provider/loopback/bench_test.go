package loopback_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// benchPage is a page connected directly to the log: its messages are dispatched and
// its frames decoded. The only socket is the app's, in memory.
type benchPage struct {
	*bridge.Client
	frames chan *channels.Frame
}

func (p *benchPage) Deliver(f *channels.Frame) { p.frames <- f }

func (p *benchPage) DeliverAll(all *channels.Batch) { all.Each(p.Deliver) }

func (p *benchPage) listen() {
	prefix := []byte(`"payload":`)
	for f := range p.frames {
		var n struct {
			Params ahp.ActionEnvelope `json:"params"`
		}
		if ahp.Unmarshal(f.Bytes(), &n) != nil {
			continue
		}
		if at := bytes.Index(n.Params.Action, prefix); at > 0 {
			p.Message(ahp.Value(n.Params.Action[at+len(prefix) : len(n.Params.Action)-1]))
		}
	}
}

func benchLook(b *testing.B, h *canvastest.Host, channel string) *benchPage {
	p := &benchPage{frames: make(chan *channels.Frame, 1<<14)}
	sub := &channels.Subscriber{ID: 99, ClientID: "page", Version: ahp.V0_6_0, Caps: []string{ahp.CapabilityCanvas}, Sink: p}
	if err := h.Log.Update(func(tx *channels.Tx) error { _, err := tx.Subscribe(sub, channel); return err }); err != nil {
		b.Fatal(err)
	}
	say := make(chan ahp.Value, 1<<14)
	var saying, listening sync.WaitGroup
	saying.Go(func() {
		for payload := range say {
			action := append(append([]byte(`{"type":"canvas/message","payload":`), payload...), '}')
			h.Log.Dispatch(sub, ahp.DispatchActionParams{Channel: channel, ClientSeq: 1, Action: action})
		}
	})
	listening.Go(p.listen)
	p.Client = bridge.NewClient(bridge.ClientOptions{Send: func(v ahp.Value) error { say <- v; return nil }})
	b.Cleanup(func() {
		p.Close()
		close(say)
		saying.Wait()
		h.Log.Leave(sub)
		close(p.frames)
		listening.Wait()
	})
	return p
}

func benchOpen(b *testing.B, body []byte) *benchPage {
	network := &ahptest.Net{}
	l, err := network.Listen(appAddr)
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })}
	go func() { _ = srv.Serve(l) }()
	b.Cleanup(func() { _ = srv.Close() })
	p, err := loopback.New("app", "http://"+appAddr, loopback.Options{Dial: network.Dial})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	h := canvastest.New(b, engine.Options{})
	h.Register(canvas.Extension{ID: "app"}, p, p.Declarations()...)
	return benchLook(b, h, h.Open("app", "one", nil).Channel)
}

// BenchmarkRequests is requests with answers of 1 KiB through the log: a message
// each way. At least 10,000 messages a second with a p99 of at most 20 ms.
func BenchmarkRequests(b *testing.B) {
	page := benchOpen(b, make([]byte, 1<<10))
	var mu sync.Mutex
	var all []time.Duration
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		var took []time.Duration
		for pb.Next() {
			begun := time.Now()
			if err := fetch(page); err != nil {
				b.Error(err)
				return
			}
			took = append(took, time.Since(begun))
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, took...)
	})
	if slices.Sort(all); len(all) > 0 {
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	}
	b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkLarge is a 16 MiB answer through the log.
func BenchmarkLarge(b *testing.B) {
	page := benchOpen(b, make([]byte, 16<<20))
	b.SetBytes(16 << 20)
	for b.Loop() {
		if err := fetch(page); err != nil {
			b.Fatal(err)
		}
	}
}

func fetch(page *benchPage) error {
	req, err := http.NewRequestWithContext(context.Background(), "GET", "http://canvas/", nil)
	if err != nil {
		return err
	}
	resp, err := page.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
