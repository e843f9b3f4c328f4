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

// viewer is a page on a channel: a View with a bridge.Client.
type viewer struct {
	*bridge.Client
	*canvastest.View
	t *testing.T
}

// view subscribes a page to a canvas channel.
func (b *bench) view(channel string) *viewer {
	b.t.Helper()
	v := &viewer{View: b.Connect("page"), t: b.t}
	var sending sync.Mutex // a View is not safe for concurrent use
	v.Client = bridge.NewClient(bridge.ClientOptions{Send: func(p ahp.Value) error {
		sending.Lock()
		defer sending.Unlock()
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

// read passes the host's messages to the client.
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

// send sends a request of the page. The caller closes the response's body.
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

// fetch sends a request and returns the status and body of the response.
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
