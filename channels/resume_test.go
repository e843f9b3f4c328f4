package channels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"pgregory.net/rapid"
)

func resume(t *testing.T, l *Log, mark Bookmark, lastSeen int64, uris ...string) Resumption {
	t.Helper()
	s, _ := subscriber(99, "c")
	var r Resumption
	mustUpdate(t, l, func(tx *Tx) error { r = tx.Resume(s, mark, lastSeen, uris); return nil })
	return r
}

func TestResumeOutcomes(t *testing.T) {
	l, _ := newToyLog(t, Options{StateEntries: 3})
	s, _ := subscriber(1, "c")
	subscribeTo(t, l, s, "toy:/a") // at 1
	addOne := func(uri string) {
		mustUpdate(t, l, func(tx *Tx) error { return tx.Append(uri, add{1}) })
	}
	mark := l.Leave(s)
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/b", "", count{}) })
	addOne("toy:/a") // 2
	addOne("toy:/a") // 3

	describe := func(r Resumption) string {
		var b strings.Builder
		fmt.Fprintf(&b, "replay=%v", r.Replay)
		for _, e := range r.Entries {
			fmt.Fprintf(&b, " %d", e.Seq)
		}
		for _, s := range r.Snapshots {
			fmt.Fprintf(&b, " %s@%d", s.Resource, s.FromSeq)
		}
		return b.String() + " missing=" + strings.Join(r.Missing, ",")
	}
	check := func(name, want string, lastSeen int64, uris ...string) {
		t.Helper()
		if got := describe(resume(t, l, mark, lastSeen, uris...)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	check("all missed", "replay=true 2 3 missing=", 1, "toy:/a")
	check("one missed", "replay=true 3 missing=", 2, "toy:/a", "toy:/a")
	check("nothing missed", "replay=true missing=", 3, "toy:/a")
	check("a removed channel", "replay=true 3 missing=toy:/gone,other:/x", 2, "toy:/a", "toy:/gone", "other:/x")
	check("seen beyond the end", "replay=false toy:/a@3 missing=", 4, "toy:/a")
	check("b not bookmarked", "replay=false toy:/a@3 toy:/b@3 missing=", 3, "toy:/a", "toy:/b", "toy:/gone")
	check("nothing listed", "replay=true missing=", 3)
	check("snapshot newer than seen", "replay=false toy:/a@3 missing=", 0, "toy:/a")

	addOne("toy:/b") // 4
	addOne("toy:/b") // 5: 2 is dropped
	check("dropped", "replay=false toy:/a@5 missing=", 1, "toy:/a")
	check("dropped and seen", "replay=true 3 missing=", 2, "toy:/a")

	mustUpdate(t, l, func(tx *Tx) error {
		tx.Remove("toy:/a")
		return tx.Create("toy:/a", "", count{})
	})
	check("channel created again", "replay=false toy:/a@5 missing=", 5, "toy:/a")
}

// TestReplayKeepsBookmark: a client that loses its connection before it has read a
// replay still has the older snapshots, so the next reconnect is a replay too. New
// snapshots it might not have read, so it gets them again.
func TestReplayKeepsBookmark(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	s, _ := subscriber(1, "c")
	subscribeTo(t, l, s, "toy:/a") // at 1
	again := func(lastSeen int64, uris ...string) (r Resumption) {
		t.Helper()
		mark := l.Leave(s)
		mustUpdate(t, l, func(tx *Tx) error {
			if err := tx.Append("toy:/a", add{1}); err != nil {
				return err
			}
			s, _ = subscriber(s.ID+1, "c")
			r = tx.Resume(s, mark, lastSeen, uris)
			return nil
		})
		return r
	}
	for missed := 1; missed <= 3; missed++ {
		if r := again(1, "toy:/a"); !r.Replay || len(r.Entries) != missed {
			t.Fatalf("reconnect %d: replay = %v of %d, want a replay of %d", missed, r.Replay, len(r.Entries), missed)
		}
	}
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/b", "", count{}) })
	if r := again(4, "toy:/a", "toy:/b"); r.Replay {
		t.Fatal("a replay of a channel that the client was not subscribed to")
	}
	if r := again(4, "toy:/a", "toy:/b"); r.Replay {
		t.Error("a replay after snapshots that the client might not have")
	}
}

func TestResumeAboveReplayBytesGivesSnapshots(t *testing.T) {
	l, _ := newToyLog(t, Options{ReplayBytes: 1000})
	s, _ := subscriber(1, "c")
	subscribeTo(t, l, s, "toy:/a")
	mark := l.Leave(s)
	for want := true; ; want = false {
		if r := resume(t, l, mark, 1, "toy:/a"); r.Replay != want {
			t.Fatalf("replay = %v at seq %d, want %v", r.Replay, l.seq, want)
		}
		if !want {
			return
		}
		for range 20 {
			mustUpdate(t, l, func(tx *Tx) error { return tx.Append("toy:/a", add{1}) })
		}
	}
}

func TestLostMessageGivesSnapshots(t *testing.T) {
	l, _ := newToyLog(t, Options{MessageEntries: 1})
	s, _ := subscriber(1, "c")
	subscribeTo(t, l, s, "toy:/a")
	mark := l.Leave(s)
	for range 2 {
		mustUpdate(t, l, func(tx *Tx) error { return tx.Append("toy:/a", shout{"x"}) })
	}
	if r := resume(t, l, mark, 1, "toy:/a"); r.Replay {
		t.Error("a replay without a dropped message")
	}
	if r := resume(t, l, mark, 2, "toy:/a"); !r.Replay || len(r.Entries) != 1 {
		t.Errorf("the client has seen the dropped message: want a replay of 1, have %v", r)
	}
}

// mirror is a client's copy of the toy channels.
type mirror struct {
	s        *Subscriber
	box      *inbox
	mark     Bookmark
	lastSeen int64
	counts   map[string]int
	uris     []string
}

func (m *mirror) snapshot(snap ahp.Snapshot) {
	var c count
	if err := ahp.Unmarshal(snap.State, &c); err != nil {
		panic(err)
	}
	m.counts[snap.Resource] = c.N
	m.lastSeen = max(m.lastSeen, snap.FromSeq)
}

func (m *mirror) apply(t *rapid.T, raw []byte) {
	var e ahp.ActionEnvelope
	if err := ahp.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if e.ServerSeq <= m.lastSeen {
		t.Fatalf("serverSeq %d after %d", e.ServerSeq, m.lastSeen)
	}
	m.lastSeen = e.ServerSeq
	var a struct {
		Type string `json:"type"`
		By   int    `json:"by,omitzero"`
	}
	ahp.Unmarshal(e.Action, &a)
	switch {
	case e.RejectionReason != "":
	case a.Type == "toy/add":
		m.counts[e.Channel] += a.By
	case a.Type == "toy/reset":
		m.counts[e.Channel] = 0
	}
}

func (m *mirror) drain(t *rapid.T) {
	for _, raw := range m.box.take() {
		m.apply(t, []byte(raw))
	}
}

// TestResumedMirrorEqualsLog: after any sequence of events, with buffers that drop
// entries all the time, a client that has resumed has the log's states.
func TestResumedMirrorEqualsLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, k := New(Options{StateEntries: 6, MessageEntries: 2}), newToy()
		l.AddKind(&k.Kind)
		uris := []string{"toy:/a", "toy:/b", "toy:/c"}
		m := &mirror{counts: map[string]int{}}
		connect := func() {
			m.s, m.box = subscriber(ConnID(l.seq), "c")
			l.Update(func(tx *Tx) error {
				r := tx.Resume(m.s, m.mark, m.lastSeen, m.uris)
				m.resumed(t, r)
				return nil
			})
		}
		connect()
		online := true
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			uri := rapid.SampledFrom(uris).Draw(t, "uri")
			switch rapid.SampledFrom([]string{"add", "add", "reset", "shout", "create", "remove", "subscribe", "unsubscribe", "drop", "back", "lost"}).Draw(t, "step") {
			case "add":
				l.Update(func(tx *Tx) error { return tx.Append(uri, add{3}) })
			case "reset":
				l.Update(func(tx *Tx) error { return tx.Append(uri, reset{}) })
			case "shout":
				l.Update(func(tx *Tx) error { return tx.Append(uri, shout{"x"}) })
			case "create":
				l.Update(func(tx *Tx) error { return tx.Create(uri, "", count{N: 100}) })
			case "remove":
				l.Update(func(tx *Tx) error { tx.Remove(uri); return nil })
			case "subscribe":
				if online {
					m.drain(t)
					l.Update(func(tx *Tx) error {
						if snap, err := tx.Subscribe(m.s, uri); err == nil {
							m.snapshot(snap.Encode())
							m.uris = append(m.uris, uri)
						}
						return nil
					})
				}
			case "unsubscribe":
				if online {
					l.Unsubscribe(m.s, uri)
					m.forget(uri)
				}
			case "drop":
				if online {
					m.box.frames = m.box.frames[:rapid.IntRange(0, len(m.box.frames)).Draw(t, "got through")]
					m.drain(t)
					m.mark = l.Leave(m.s)
					online = false
				}
			case "back":
				if !online {
					connect()
					online = true
				}
			case "lost": // the connection is lost before the answer to its reconnect
				if !online {
					m.s, m.box = subscriber(ConnID(l.seq), "c")
					l.Update(func(tx *Tx) error {
						tx.Resume(m.s, m.mark, m.lastSeen, m.uris)
						return nil
					})
					m.mark = l.Leave(m.s)
				}
			}
		}
		if !online {
			connect()
		}
		m.drain(t)
		for _, uri := range m.uris {
			if s, ok := l.State(uri); ok && s.(count).N != m.counts[uri] && subscribedTo(l, m.s, uri) {
				t.Errorf("%s: mirror %d, log %d", uri, m.counts[uri], s.(count).N)
			}
		}
	})
}

func subscribedTo(l *Log, s *Subscriber, uri string) (ok bool) {
	l.View(func(tx *ReadTx) { ok = tx.Subscribed(s, uri) })
	return ok
}

func (m *mirror) forget(uri string) {
	var kept []string
	for _, u := range m.uris {
		if u != uri {
			kept = append(kept, u)
		}
	}
	m.uris = kept
}

func (m *mirror) resumed(t *rapid.T, r Resumption) {
	if r.Replay {
		for _, e := range r.Entries {
			m.apply(t, e.Envelope())
		}
		for _, uri := range r.Missing {
			m.forget(uri)
		}
		return
	}
	m.uris = nil
	for _, s := range r.Snapshots {
		m.snapshot(s.Encode())
		m.uris = append(m.uris, s.Resource)
	}
}
