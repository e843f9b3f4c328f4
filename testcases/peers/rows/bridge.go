package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// page plays the page in front of a web app behind a canvas: it sends HTTP
// inside the messages of the canvas's channel, over a WebSocket.
type page struct {
	*bridge.Client
	client *client.Client
	watch  *client.Watch
	wg     sync.WaitGroup
}

// bridgeRow measures http/1 with three processes: the page (this one), the
// host, and the web app.
func bridgeRow(e *Env) ([]figure.Figure, error) {
	p, err := openPage(e)
	if err != nil {
		return nil, err
	}
	big := figure.Figure{What: "bridge, response of 16 MiB", Unit: "MB/s", Target: figure.Target{AtLeast: 50}}
	busy := figure.Figure{What: "bridge, messages of 1 KiB, 64 requests at a time", Unit: "messages/s", Target: figure.Target{AtLeast: 10000}}
	p50 := figure.Figure{What: "bridge, p50 at 10,000 messages/s of 1 KiB, open loop", Unit: "ms"}
	p99 := figure.Figure{What: "bridge, p99 at 10,000 messages/s of 1 KiB, open loop", Unit: "ms", Target: figure.Target{AtMost: 20}}
	for round := range e.Rounds(5) + 1 {
		begun := time.Now()
		if err := p.fetch(e.Ctx, "GET", "/text/16777216", nil); err != nil {
			return nil, err
		}
		mb := (16 << 20) / 1e6 / time.Since(begun).Seconds()
		rate, err := p.closedLoop(e.Ctx, e.Pick(8000, 1500), 64)
		if err != nil {
			return nil, err
		}
		times, err := p.openLoop(e.Ctx, e.Pick(6000, 1000), 5000)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			continue // warm
		}
		big.Ours, busy.Ours = append(big.Ours, mb), append(busy.Ours, rate)
		p50.Ours = append(p50.Ours, figure.Quantile(times, 0.5)/1e3)
		p99.Ours = append(p99.Ours, figure.Quantile(times, 0.99)/1e3)
	}
	return []figure.Figure{busy, p50, p99, big}, nil
}

func openPage(e *Env) (*page, error) {
	host, err := e.start("host")
	if err != nil {
		return nil, err
	}
	web, err := e.start("http")
	if err != nil {
		return nil, err
	}
	open, err := host.Call(proc.Request{Do: "app", Addr: web.Hello.Addr})
	if err != nil {
		return nil, err
	}
	p := &page{}
	p.client, err = client.Dial(e.Ctx, host.Hello.Addr, client.Options{Token: host.Hello.Token, Subscriptions: []string{open.Channel}, Dispatches: 1 << 16, WatchBytes: 256 << 20})
	if err != nil {
		return nil, err
	}
	p.watch = p.client.Watch(open.Channel)
	p.Client = bridge.NewClient(bridge.ClientOptions{Send: func(payload ahp.Value) error {
		_, err := p.client.DispatchAsync(open.Channel, canvas.Message{Payload: payload})
		return err
	}})
	p.wg.Go(p.listen)
	e.Cleanup(func() { p.Close(); p.client.Close(); p.wg.Wait() })
	return p, nil
}

// listen passes the host's messages to the bridge.
func (p *page) listen() {
	for {
		ev, err := p.watch.Next(context.Background())
		if err != nil {
			return
		}
		m, ok := ev.Action.(canvas.Message)
		switch {
		case !ok:
		case ev.Kind == client.EventRefused:
			p.Refused(m.Payload)
		case ev.Kind == client.EventAction && ev.Origin == nil:
			p.Message(m.Payload)
		}
	}
}

var kilobyte = bytes.Repeat([]byte("x"), 1<<10)

func (p *page) fetch(ctx context.Context, method, path string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://canvas"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := p.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != 200 || n < int64(len(body))) {
		err = fmt.Errorf("status %d, %d bytes", resp.StatusCode, n)
	}
	return err
}

// closedLoop makes n requests, at most flight concurrently, and returns
// messages per second, counting two for each request.
func (p *page) closedLoop(ctx context.Context, n, flight int) (float64, error) {
	errs := make([]error, flight)
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range flight {
		wg.Go(func() {
			for range n / flight {
				if errs[i] = p.fetch(ctx, "POST", "/echo", kilobyte); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(2*(n/flight)*flight) / time.Since(begun).Seconds(), errors.Join(errs...)
}

// openLoop starts n requests at a rate, without waiting for earlier ones. The
// time of each counts from when it was due.
func (p *page) openLoop(ctx context.Context, n, rate int) ([]time.Duration, error) {
	times, errs := make([]time.Duration, n), make([]error, n)
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range n {
		due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		wg.Go(func() {
			errs[i] = p.fetch(ctx, "POST", "/echo", kilobyte)
			times[i] = time.Since(due)
		})
	}
	wg.Wait()
	return times, errors.Join(errs...)
}
