package channels

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestLent: only a long entry that one connection gets, and that no replay needs,
// has memory that somebody else uses after it.
func TestLent(t *testing.T) {
	long := strings.Repeat("x", pooledFrom)
	for _, c := range []struct {
		name, text string
		to         Audience
		lent       bool
	}{
		{"one connection", long, OnlyConn(7), true},
		{"short", "x", OnlyConn(7), false},
		{"everybody", long, Audience{}, false},
		{"kept for its sender", long, Audience{Conn: 7, RetainFor: "c"}, false},
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
			e.frame.Written() // the memory goes back once
			a, b := make(), make()
			if &a.frame.Bytes()[0] == &b.frame.Bytes()[0] {
				t.Error("two frames lie in the same memory")
			}
			if kept := len(e.frame.Bytes()) > 0; kept == c.lent {
				t.Errorf("after it was written, its bytes are there: %v", kept)
			}
		})
	}
}

// keeper is a sink that keeps the last frame.
type keeper struct{ last *Frame }

func (k *keeper) Deliver(f *Frame) { k.last = f }

func (k *keeper) DeliverAll(all *Batch) { all.Each(k.Deliver) }

// TestARefusalKeepsItsMemory: it is kept for replay whatever its audience, also
// where the connection has no client id that it could be kept for.
func TestARefusalKeepsItsMemory(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	var sink keeper
	raw := ahp.MustMarshal(shout{strings.Repeat("x", pooledFrom)})
	mustUpdate(t, l, func(tx *Tx) error {
		tx.Refuse(&Subscriber{ID: 7, Sink: &sink}, "toy:/a", &ahp.EncodedAction{Raw: raw}, nil, "no")
		return nil
	})
	sink.last.Written()
	if len(sink.last.Bytes()) == 0 {
		t.Error("somebody else has the memory of an entry that is kept")
	}
}
