package aapcanvas_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/notify"
)

// click posts a click for an agent, as a person, and returns the status.
func (e *env) click(agent string) (int, error) {
	token, _ := e.host.Tokens()
	req, err := http.NewRequestWithContext(e.t.Context(), "POST", e.host.Endpoints().Page+"api/agents/"+agent+"/canvas/interactions", strings.NewReader(`{"action":"click","canvasFile":"p.html"}`))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// TestNotificationHangs: rule 31: while no notification ends, every click is answered with
// 201 and is an event, and the host still ends.
func TestNotificationHangs(t *testing.T) {
	hangs := make(chan struct{}, 1)
	n := notify.New(func(ctx context.Context, _ notify.Notification) error {
		select {
		case hangs <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return ctx.Err()
	}, nil)
	e := start(t, func(o *aapcanvas.Options, _ *host.Options) { o.Notify = n.Notify }).serve()
	if status, err := e.click(agent); err != nil || status != 201 {
		t.Fatal(status, err)
	}
	<-hangs
	for k := range 100 {
		if status, err := e.click(agent); err != nil || status != 201 {
			t.Fatalf("click %d while a notification hangs: %d, %v", k, status, err)
		}
	}
	e.until("events", func() bool { return len(e.events(host.DefaultSession)) == 101 })
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// TestFlood: section 6: an agent that gets more clicks than it may is refused, and another
// agent's clicks are neither refused nor slow.
func TestFlood(t *testing.T) {
	began := time.Now() // no time passes, so that 200 clicks are the limit however slow the machine is
	before := &env{t: t, root: t.TempDir(), now: func() time.Time { return began }}
	if err := os.MkdirAll(filepath.Join(before.root, "other", "canvas"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := startOn(t, before).serve()
	p99 := func() time.Duration {
		var took []time.Duration
		for range 60 {
			began := time.Now()
			if status, err := e.click("other"); err != nil || status != 201 {
				t.Fatalf("the other agent's click: %d, %v", status, err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	var refused, stored, asked atomic.Int64
	// flood has 16 clients call fn until the returned function is called.
	flood := func(fn func() error) (end func()) {
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for range 16 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if fn() != nil {
						return
					}
				}
			})
		}
		return func() { close(stop); wg.Wait() }
	}
	quiet := p99()
	if os.Getenv("AHP_LONG") != "" { // what as many clients cost that store nothing: they share the processors with the host
		end := flood(func() error {
			resp, err := http.Get(e.host.Endpoints().Page + "healthz")
			asked.Add(1)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		})
		e.until("requests", func() bool { return asked.Load() > 0 })
		t.Logf("p99 of the other agent beside 16 clients that store nothing: %v", p99())
		end()
	}
	end := flood(func() error {
		status, err := e.click(agent)
		switch {
		case err != nil:
		case status == 201:
			stored.Add(1)
		case status == 429:
			refused.Add(1)
		default:
			t.Errorf("the flooded agent: %d", status)
		}
		return err
	})
	e.until("refusals", func() bool { return refused.Load() > 0 })
	flooded := p99()
	end()
	t.Logf("p99 of the other agent: %v quiet, %v flooded (%d stored, %d refused)", quiet, flooded, stored.Load(), refused.Load())
	if flooded > 20*quiet+5*time.Second { // a machine with two busy cores; a queue that both share takes many seconds
		t.Errorf("p99 of the other agent: %v quiet, %v flooded", quiet, flooded)
	}
}
