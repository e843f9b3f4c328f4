package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// BenchmarkGrowth publishes an action to ten subscribers in a host with so many
// other sessions, or with so many connections that subscribe to another
// session. The session service allows at most 1,024 sessions; the others exist
// only as channels in the log.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			h := newHost(b)
			for i := range n {
				ensure(b, h, i)
			}
			grown(b, h)
		})
		b.Run(fmt.Sprintf("connections=%d", n), func(b *testing.B) {
			h := newHost(b)
			subscribe(b, h.Log, ensure(b, h, 0), n)
			grown(b, h)
		})
	}
}

func ensure(b *testing.B, h *canvastest.Host, i int) string {
	uri := fmt.Sprint("ahp-session:/other-", i)
	if i < 1000 {
		if err := h.Sessions.Ensure(uri, "Other"); err != nil {
			b.Fatal(err)
		}
		return uri
	}
	err := h.Log.Update(func(tx *channels.Tx) error {
		like, _ := tx.State(canvastest.Session)
		return tx.Create(uri, "", like)
	})
	if err != nil {
		b.Fatal(err)
	}
	return uri
}

func grown(b *testing.B, h *canvastest.Host) {
	subscribe(b, h.Log, canvastest.Session, 10)
	b.ReportAllocs()
	for b.Loop() {
		deliver(b, h.Log)
	}
}

// BenchmarkReconnects measures what happens rarely, but for all clients at once
// when a network recovers: a canvas opens and closes, a client's grace period
// ends, a client declares its canvases. The host has so many canvases in other
// sessions, 200 in each, and as many connections. It also measures a View's
// message to a client's canvas with so many subscribers.
func BenchmarkReconnects(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("open/beside=%d", n), func(b *testing.B) {
			h := busyHost(b, n)
			for b.Loop() {
				h.Open("still", "one", nil)
				if err := h.Canvases.Close(b.Context(), canvastest.Session, "one"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("gone/beside=%d", n), func(b *testing.B) {
			h := busyHost(b, n)
			for b.Loop() {
				h.Sessions.ClientGone("nobody", func(string) bool { return false })
			}
		})
		b.Run(fmt.Sprintf("declare/beside=%d", n), func(b *testing.B) {
			h := busyHost(b, n)
			from := h.Connect("provider")
			from.Subscribe(canvastest.Session)
			for i := 0; b.Loop(); i++ {
				from.Dispatch(canvastest.Session, fmt.Sprintf(declaration, i%2))
				if received := from.Take(); len(received) != 2 { // the echo, and the session's canvases
					b.Fatalf("received %v", received)
				}
			}
		})
		b.Run(fmt.Sprintf("message/beside=%d", n), func(b *testing.B) { message(b, busyHost(b, n), n) })
	}
}

const declaration = `{"type":"session/activeClientSet","activeClient":{"clientId":"provider","tools":[],"canvasProviders":[{"canvasId":"theirs","displayName":"Theirs","description":"%d"}]}}`

// message measures a View's message to a canvas of a client, to which n others
// subscribe.
func message(b *testing.B, h *canvastest.Host, n int) {
	provider := h.Connect("provider")
	provider.Subscribe(canvastest.Session)
	provider.Dispatch(canvastest.Session, fmt.Sprintf(declaration, 0))
	channel := h.Open("theirs", "theirs", nil).Channel
	subscribe(b, h.Log, channel, n)
	provider.Subscribe(channel)
	person := h.Connect("person")
	person.Subscribe(channel)
	provider.Take()
	for b.Loop() {
		person.Say(channel, `"hello"`)
		if len(provider.Take()) != 1 || len(person.Take()) != 1 {
			b.Fatal("provider and View did not both receive the message")
		}
	}
}

// reachable is an engine.Caller whose clients are all connected and return {}
// for every call.
type reachable struct{}

func (reachable) Call(context.Context, string, time.Duration, string, any) (ahp.Value, error) {
	return ahp.Value(`{}`), nil
}
func (reachable) Capable(string, string) bool            { return true }
func (reachable) Connection(string) *channels.Subscriber { return nil }

func busyHost(b *testing.B, n int) *canvastest.Host {
	h := hostWith(b, engine.Options{Caller: reachable{}, Limits: canvas.Limits{Instances: 2 * n}})
	subscribe(b, h.Log, ensure(b, h, 0), n)
	for i := range n {
		_, err := h.Canvases.Open(b.Context(), canvas.OpenArgs{Session: ensure(b, h, i/200), CanvasID: "still", InstanceID: fmt.Sprint("i", i)})
		if err != nil {
			b.Fatal(err)
		}
	}
	return h
}
