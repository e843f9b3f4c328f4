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

// BenchmarkGrowth is an action to ten subscribers beside so many other sessions,
// and beside so many connections that subscribe elsewhere. The session service
// has at most 1,024: more are channels of the log alone.
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

// BenchmarkComings is what happens seldom, but to everybody at once when a network
// is back: a canvas opens and closes, a client's grace ends, one declares its
// canvases. Beside so many canvases in other sessions, 200 in each, and as many
// connections. And a person's message to a client's canvas, to which so many listen.
func BenchmarkComings(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("open/beside=%d", n), func(b *testing.B) {
			h := crowded(b, n)
			for b.Loop() {
				h.Open("still", "one", nil)
				if err := h.Canvases.Close(b.Context(), canvastest.Session, "one"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("gone/beside=%d", n), func(b *testing.B) {
			h := crowded(b, n)
			for b.Loop() {
				h.Sessions.ClientGone("nobody", func(string) bool { return false })
			}
		})
		b.Run(fmt.Sprintf("declare/beside=%d", n), func(b *testing.B) {
			h := crowded(b, n)
			from := h.Connect("provider")
			from.Subscribe(canvastest.Session)
			for i := 0; b.Loop(); i++ {
				from.Dispatch(canvastest.Session, fmt.Sprintf(declaration, i%2))
				if heard := from.Take(); len(heard) != 2 { // the client's, and the session's canvases
					b.Fatalf("heard %v", heard)
				}
			}
		})
		b.Run(fmt.Sprintf("message/beside=%d", n), func(b *testing.B) { message(b, crowded(b, n), n) })
	}
}

const declaration = `{"type":"session/activeClientSet","activeClient":{"clientId":"provider","tools":[],"canvasProviders":[{"canvasId":"theirs","displayName":"Theirs","description":"%d"}]}}`

// message is a View's to a canvas of a client's, to which n others listen.
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
			b.Fatal("the message was not heard by both")
		}
	}
}

// reached is a engine.Caller whose clients are there and answer everything alike.
type reached struct{}

func (reached) Call(context.Context, string, time.Duration, string, any) (ahp.Value, error) {
	return ahp.Value(`{}`), nil
}
func (reached) Capable(string, string) bool { return true }

func crowded(b *testing.B, n int) *canvastest.Host {
	h := hostWith(b, engine.Options{Caller: reached{}, Limits: canvas.Limits{Instances: 2 * n}})
	subscribe(b, h.Log, ensure(b, h, 0), n)
	for i := range n {
		_, err := h.Canvases.Open(b.Context(), canvas.OpenArgs{Session: ensure(b, h, i/200), CanvasID: "still", InstanceID: fmt.Sprint("i", i)})
		if err != nil {
			b.Fatal(err)
		}
	}
	return h
}
