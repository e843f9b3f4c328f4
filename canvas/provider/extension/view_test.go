package extension

import (
	"context"
	"io"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// viewer is a page on the channel: a View with a bridge.Client.
type viewer struct {
	*bridge.Client
	*canvastest.View
	t *testing.T
}

// look subscribes a page to a canvas.
func (b *bench) look(channel string) *viewer {
	b.t.Helper()
	v := &viewer{View: b.Connect("page"), t: b.t}
	var saying sync.Mutex // a View is for one goroutine at a time
	v.Client = bridge.NewClient(bridge.ClientOptions{Send: func(p ahp.Value) error {
		saying.Lock()
		defer saying.Unlock()
		v.Say(channel, string(p))
		return nil
	}})
	v.Subscribe(channel)
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() { v.read(ctx) })
	b.t.Cleanup(func() { v.Client.Close(); cancel(); reading.Wait() })
	return v
}

// read gives the client what the host says.
func (v *viewer) read(ctx context.Context) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		for _, e := range v.Take() {
			var m canvas.Message
			if ahp.Unmarshal(e.Action, &m) == nil && m.Payload != nil {
				v.Message(m.Payload)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// send makes a request of the page; the caller closes the body.
func (v *viewer) send(method, path string, header http.Header, body io.Reader) *http.Response {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, "http://canvas"+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	resp, err := v.RoundTrip(req)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// fetch is send with the whole answer.
func (v *viewer) fetch(method, path string, header http.Header, body io.Reader) (int, string) {
	v.t.Helper()
	resp := v.send(method, path, header, body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, string(data)
}
