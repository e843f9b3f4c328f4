package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The limits of the queue and of one export.
const (
	maxQueued = 4096
	maxBatch  = 512
	interval  = 2 * time.Second
	timeout   = 10 * time.Second
)

// Options are where spans go.
type Options struct {
	// URL is the address of a collector, as in http://localhost:4318. Spans go to the path
	// v1/traces below it.
	URL string
	// Service and Version name the program to the collector.
	Service, Version string
	// Logger receives failed exports, without addresses; nil discards them.
	Logger *slog.Logger
}

// Tracer records spans. Make one with New and end it with Close. A nil Tracer records
// nothing.
type Tracer struct {
	opts   Options
	target string
	client *http.Client
	now    func() time.Time

	ctx    context.Context // of exports; canceled when Close no longer waits
	cancel context.CancelFunc
	full   chan struct{} // a batch is full, or the tracer is closed
	done   chan struct{} // the exporting goroutine has ended

	durations durations

	mu      sync.Mutex
	queued  []wireSpan
	dropped int
	closed  bool
}

// New starts a tracer. It does not connect yet.
func New(opts Options) (*Tracer, error) {
	u, err := url.Parse(opts.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the address of a collector; want one as in http://localhost:4318", opts.URL)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tracer{
		opts: opts, target: strings.TrimSuffix(opts.URL, "/") + "/v1/traces", now: time.Now,
		client: &http.Client{Timeout: timeout}, full: make(chan struct{}, 1), done: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.run()
	return t, nil
}

// add queues a span, or drops it if the queue is full.
func (t *Tracer) add(s wireSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.queued) >= maxQueued {
		t.dropped++
		return
	}
	if t.queued = append(t.queued, s); len(t.queued) >= maxBatch {
		t.wake()
	}
}

func (t *Tracer) wake() {
	select {
	case t.full <- struct{}{}:
	default:
	}
}

// Close exports what is queued, for as long as ctx lasts. A nil Tracer has nothing.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.wake()
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	<-t.done
	t.cancel()
	t.client.CloseIdleConnections()
}

// Dropped returns how many spans did not reach the collector.
func (t *Tracer) Dropped() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped
}

// run exports batches until the tracer is closed and the queue is empty.
func (t *Tracer) run() {
	defer close(t.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-t.full:
		case <-tick.C:
		}
		for {
			batch, closed := t.take()
			if len(batch) == 0 && closed {
				return
			}
			if len(batch) == 0 {
				break
			}
			t.export(batch)
		}
	}
}

func (t *Tracer) take() (batch []wireSpan, closed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(t.queued), maxBatch)
	batch, t.queued = t.queued[:n:n], t.queued[n:]
	if len(t.queued) == 0 {
		t.queued = nil
	}
	return batch, t.closed
}

// export sends a batch once: a collector that is down costs its spans, and no memory.
func (t *Tracer) export(batch []wireSpan) {
	err := t.post(batch)
	if err == nil {
		return
	}
	t.mu.Lock()
	t.dropped += len(batch)
	t.mu.Unlock()
	t.opts.Logger.Warn("spans not exported", "spans", len(batch), "err", err)
}

func (t *Tracer) post(batch []wireSpan) error {
	body, err := json.Marshal(t.request(batch))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(t.ctx, http.MethodPost, t.target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := t.client.Do(req)
	if err != nil {
		if u, ok := err.(*url.Error); ok {
			err = u.Err // without the address
		}
		return err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %d", resp.StatusCode)
	}
	return nil
}
