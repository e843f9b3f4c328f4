package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// sink discards frames. The benchmarks of ahp/peer measure the connection behind it.
type sink struct{ n int }

func (s *sink) Deliver(*channels.Frame) { s.n++ }

func (s *sink) DeliverAll(all *channels.Batch) { s.n += len(all.Messages()) }

// still is a canvas that does nothing.
type still struct{}

func (still) Open(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
	return canvas.Opened{Instance: still{}, Title: "Still"}, nil
}
func (still) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (still) Close(context.Context) error                                  { return nil }

// newHost makes a host without a network, with one declared canvas.
func newHost(t testing.TB) *canvastest.Host {
	t.Helper()
	return hostWith(t, engine.Options{})
}

// hostWith is newHost with options.
func hostWith(t testing.TB, opts engine.Options) *canvastest.Host {
	t.Helper()
	opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	h := canvastest.New(t, opts)
	h.Register(canvas.Extension{ID: "still"}, still{}, canvas.Declaration{CanvasID: "still", DisplayName: "Still"})
	return h
}

// subscribe adds n connections to a channel and returns the first one, with its
// sink.
func subscribe(t testing.TB, log *channels.Log, channel string, n int) (*channels.Subscriber, *sink) {
	t.Helper()
	var first *channels.Subscriber
	for i := range n {
		s := &channels.Subscriber{
			ID: channels.ConnID(1_000_000 + i), ClientID: fmt.Sprint("client-", i), Version: ahp.V0_6_0,
			Caps: []string{ahp.CapabilityCanvas}, Sink: &sink{},
		}
		if first == nil {
			first = s
		}
		err := log.Update(func(tx *channels.Tx) error { _, err := tx.Subscribe(s, channel); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	return first, first.Sink.(*sink)
}

var title = strings.Repeat("t", 150)

// dispatched returns an action as a client sends it.
func dispatched(channel string) ahp.DispatchActionParams {
	return ahp.DispatchActionParams{Channel: channel, ClientSeq: 7, Action: ahp.Value(`{"type":"session/titleChanged","title":"` + title + `"}`)}
}
