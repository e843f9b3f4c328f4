package channels

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// audienceModel is a log with many subscribers, and the frames that each of them should
// receive, in order.
type audienceModel struct {
	t    *testing.T
	log  *Log
	all  []*Subscriber
	box  map[*Subscriber]*inbox
	want map[*Subscriber][]string
	sent int
}

var modelChannels = []string{"toy:/a", "toy:/b"}

func newAudienceModel(t *testing.T, r *rand.Rand, n int) *audienceModel {
	l, _ := newToyLog(t, Options{})
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/b", "", count{}) })
	c := &audienceModel{t: t, log: l, box: map[*Subscriber]*inbox{}, want: map[*Subscriber][]string{}}
	for i := range n {
		var caps []string
		if r.IntN(3) == 0 {
			caps = []string{"toys"}
		}
		s, box := subscriber(ConnID(i+1), fmt.Sprint("client", i%10), caps...)
		c.all, c.box[s] = append(c.all, s), box
	}
	return c
}

// publish publishes an action, and records it for every subscriber that should
// receive it.
func (c *audienceModel) publish(uri string, secret bool, to Audience) {
	c.sent++
	text := fmt.Sprintf("%s %d", uri, c.sent)
	mustUpdate(c.t, c.log, func(tx *Tx) error {
		for _, s := range c.all {
			receives := tx.Subscribed(s, uri) && (to.all() || to.includes(s))
			if receives && (!secret || s.Caps.Has("toys")) {
				c.want[s] = append(c.want[s], text)
			}
		}
		if secret {
			return tx.AppendTo(uri, whisper{Text: text}, to)
		}
		return tx.AppendTo(uri, shout{Text: text}, to)
	})
}

func (c *audienceModel) step(r *rand.Rand) {
	s, uri := c.all[r.IntN(len(c.all))], modelChannels[r.IntN(2)]
	switch n := r.IntN(20); {
	case n < 12:
		for range 1 + r.IntN(6) {
			c.publish(uri, r.IntN(5) == 0, Audience{})
		}
	case n == 12:
		c.publish(uri, false, Audience{Conn: s.ID, Clients: []string{"client3"}})
	case n == 13:
		c.log.Dispatch(s, ahp.DispatchActionParams{Channel: uri, Action: ahp.Value(`{"type":"toy/reset"}`)})
		c.want[s] = append(c.want[s], "refused")
	case n < 16:
		c.log.Unsubscribe(s, uri)
	case n == 16 || n == 17:
		mustUpdate(c.t, c.log, func(tx *Tx) error { _, err := tx.Subscribe(s, uri); return err })
	case n == 18: // a frame that is not from the log
		c.log.Flush()
		c.check(s)
	default:
		synctest.Wait() // until the fan-out goroutine has run
	}
}

// check compares the frames that a connection has received with the expected ones.
func (c *audienceModel) check(s *Subscriber) {
	c.t.Helper()
	var got []string
	for _, text := range c.box[s].take() {
		var e struct {
			Action          whisper
			RejectionReason string
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			c.t.Fatal(err)
		}
		if e.RejectionReason != "" {
			e.Action.Text = "refused"
		}
		got = append(got, e.Action.Text)
	}
	if !slices.Equal(got, c.want[s]) {
		c.t.Fatalf("%d received %q, want %q", s.ID, got, c.want[s])
	}
	c.want[s] = nil
}

// TestFanOut: batching changes nothing that a connection can observe. Entries come
// in order, without those that it may not see, and before frames that are not from
// the log and were queued later.
func TestFanOut(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			c := newAudienceModel(t, r, 3*many)
			for i, s := range c.all {
				for _, uri := range modelChannels[:1+i%2] {
					subscribeTo(t, c.log, s, uri)
				}
			}
			for range 100 {
				c.step(r)
			}
			synctest.Wait()
			for _, s := range c.all {
				c.check(s)
			}
		})
	}
}
