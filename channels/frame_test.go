package channels

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestPooled: only a long entry for a single connection that is not retained has
// pooled memory.
func TestPooled(t *testing.T) {
	long := strings.Repeat("x", pooledFrom)
	for _, c := range []struct {
		name, text string
		to         Audience
		pooled     bool
	}{
		{"one connection", long, OnlyConn(7), true},
		{"short", "x", OnlyConn(7), false},
		{"all subscribers", long, Audience{}, false},
		{"retained for its sender", long, Audience{Conn: 7, RetainFor: "c"}, false},
		{"clients", long, Audience{Clients: []string{"c"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			make := func() *Entry {
				return newEntry(1, "toy:/1", &ahp.EncodedAction{Raw: ahp.MustMarshal(shout{c.text})}, nil, "", c.to)
			}
			e := make()
			want := `{"jsonrpc":"2.0","method":"action","params":{"channel":"toy:/1","action":{"text":"` + c.text + `"},"serverSeq":1}}`
			if got := string(e.frame.Bytes()); got != want {
				t.Fatalf("%.200s", got)
			}
			e.frame.Written()
			e.frame.Written() // must not return the memory twice
			a, b := make(), make()
			if &a.frame.Bytes()[0] == &b.frame.Bytes()[0] {
				t.Error("two frames share memory")
			}
			if kept := len(e.frame.Bytes()) > 0; kept == c.pooled {
				t.Errorf("bytes after Written: %v", kept)
			}
		})
	}
}

// lastFrame is a sink that records the last frame.
type lastFrame struct{ last *Frame }

func (s *lastFrame) Deliver(f *Frame) { s.last = f }

func (s *lastFrame) DeliverAll(all *Batch) { all.Each(s.Deliver) }

// TestRefusalIsNotPooled: a refused action is retained for replay, even if the
// connection has no client id.
func TestRefusalIsNotPooled(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	var sink lastFrame
	raw := ahp.MustMarshal(shout{strings.Repeat("x", pooledFrom)})
	mustUpdate(t, l, func(tx *Tx) error {
		tx.Refuse(&Subscriber{ID: 7, Sink: &sink}, "toy:/a", &ahp.EncodedAction{Raw: raw}, nil, "no")
		return nil
	})
	sink.last.Written()
	if len(sink.last.Bytes()) == 0 {
		t.Error("the memory of a retained entry was recycled")
	}
}
