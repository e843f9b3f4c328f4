package channels

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
	"github.com/google/go-cmp/cmp"
)

// A toy kind: a counter that clients add to, with a secret that a capability
// reveals, a signal, and a mirror of the count in the parent channel.

type count struct {
	N      int    `json:"n"`
	Secret string `json:"secret,omitzero"`
}

type add struct {
	By int `json:"by"`
}

type reset struct{}

type shout struct {
	Text string `json:"text"`
}

type whisper struct {
	Text string `json:"text"`
}

func (add) ActionType() string     { return "toy/add" }
func (reset) ActionType() string   { return "toy/reset" }
func (shout) ActionType() string   { return "toy/shout" }
func (whisper) ActionType() string { return "toy/whisper" }

type toy struct {
	Kind
	effects []string
	left    []string
}

func newToy() *toy {
	k := &toy{}
	k.Kind = Kind{
		Scheme: "toy",
		Actions: ahp.NewActionTable(
			ahp.Row[add](ahp.FromHost|ahp.FromClient),
			ahp.Row[reset](ahp.FromHost),
			ahp.Row[shout](ahp.FromHost|ahp.FromClient, ahp.AsMessage()),
			ahp.Row[whisper](ahp.FromHost|ahp.FromClient, ahp.Gated("toys"), ahp.Since(ahp.V0_6_0)),
		),
		Reduce: func(s State, a ahp.Action) (State, Outcome, error) {
			c := s.(count)
			switch a := a.(type) {
			case add:
				if a.By == 0 {
					return s, Signal, errors.New("adding nothing")
				}
				c.N += a.By
				return c, Applied, nil
			case reset:
				c.N = 0
				return c, Applied, nil
			}
			return s, Signal, nil
		},
		After: func(tx *Tx, uri string, before, after State, a ahp.Action) {
			if parent := tx.Parent(uri); parent != "" && before != after {
				tx.Append(parent, add{By: after.(count).N - before.(count).N})
			}
		},
		Redact:           func(s State) State { return count{N: s.(count).N} },
		RedactCapability: "toys",
		Permit: func(_ *ReadTx, d *Dispatch) error {
			if s, ok := d.Action.(shout); ok && s.Text == "psst" {
				d.Audience = Sender(d.From)
			}
			return nil
		},
		Effect: func(d Dispatch) { k.effects = append(k.effects, d.Action.ActionType()) },
		Left:   func(s *Subscriber, uri string) { k.left = append(k.left, s.ClientID+" "+uri) },
		Check: func(_ *Subscriber, a ahp.Action) error {
			if s, ok := a.(shout); ok && s.Text == "" {
				return errors.New("shouting nothing")
			}
			return nil
		},
		Absent: func(a ahp.Action) error {
			if _, ok := a.(shout); ok {
				return errors.New("no such channel")
			}
			return nil
		},
	}
	return k
}

// inbox is a sink that records frames.
type inbox struct{ frames []string }

func (b *inbox) Deliver(f *Frame) { b.frames = append(b.frames, string(f.Bytes())) }

func (b *inbox) DeliverAll(all *Batch) { all.Each(b.Deliver) }

// take removes and returns the recorded envelopes.
func (b *inbox) take() []string {
	var out []string
	for _, f := range b.frames {
		out = append(out, f[len(notificationHead):len(f)-1])
	}
	b.frames = nil
	return out
}

func subscriber(id ConnID, client string, caps ...string) (*Subscriber, *inbox) {
	box := &inbox{}
	return &Subscriber{ID: id, ClientID: client, Version: ahp.V0_5_1, Caps: caps, Sink: box}, box
}

func newToyLog(t *testing.T, opts Options) (*Log, *toy) {
	t.Helper()
	l, k := New(opts), newToy()
	l.AddKind(&k.Kind)
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/a", "", count{Secret: "s"}) })
	return l, k
}

func mustUpdate(t *testing.T, l *Log, fn func(*Tx) error) {
	t.Helper()
	if err := l.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func subscribeTo(t *testing.T, l *Log, s *Subscriber, uri string) ahp.Snapshot {
	t.Helper()
	var snap ahp.Snapshot
	mustUpdate(t, l, func(tx *Tx) error {
		got, err := tx.Subscribe(s, uri)
		if err == nil {
			snap = got.Encode()
		}
		return err
	})
	return snap
}

func send(l *Log, s *Subscriber, seq int64, uri, action string) {
	l.Dispatch(s, ahp.DispatchActionParams{Channel: uri, ClientSeq: seq, Action: ahp.Value(action)})
}

func wantFrames(t *testing.T, box *inbox, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, box.take()); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

func TestEnvelopeBytes(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	s, box := subscriber(1, `c"1`)
	if got, want := subscribeTo(t, l, s, "toy:/a"), int64(1); got.FromSeq != want {
		t.Fatalf("fromSeq = %d, want %d", got.FromSeq, want)
	}
	mustUpdate(t, l, func(tx *Tx) error { return tx.Append("toy:/a", reset{}) })
	send(l, s, 7, "toy:/a", `{"type":"toy/add","by":2,"later":1e0}`)
	send(l, s, 8, "toy:/a", `{"type":"toy/add","by":0}`)
	wantFrames(t, box,
		`{"channel":"toy:/a","action":{"type":"toy/reset"},"serverSeq":2}`,
		`{"channel":"toy:/a","action":{"type":"toy/add","by":2,"later":1e0},"serverSeq":3,"origin":{"clientId":"c\"1","clientSeq":7}}`,
		`{"channel":"toy:/a","action":{"type":"toy/add","by":0},"serverSeq":4,"origin":{"clientId":"c\"1","clientSeq":8},"rejectionReason":"adding nothing"}`)
}

func TestDispatchRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, channel, action, reason string // "" if ignored
	}{
		{"host only", "toy:/a", `{"type":"toy/reset"}`, "toy/reset is host-only"},
		{"unknown type", "toy:/a", `{"type":"toy/none"}`, `unknown action type \"toy/none\"`},
		{"no type", "toy:/a", `{"by":1}`, "action: /type: required"},
		{"missing member", "toy:/a", `{"type":"toy/add"}`, "toy/add: /by: required"},
		{"wrong type", "toy:/a", `{"type":"toy/add","by":"1"}`, "toy/add: /by: want an integer, have a string"},
		{"long", "toy:/a", `{"type":"toy/add","by":"` + strings.Repeat("x", heavy.From) + `"}`, "toy/add: /by: want an integer, have a string"},
		{"too long", "toy:/a", `{"type":"toy/shout","text":"` + strings.Repeat("x", maxAction) + `"}`, fmt.Sprintf("the action has %d bytes, at most %d are allowed", maxAction+30, maxAction)},
		{"no capability", "toy:/a", `{"type":"toy/whisper","text":"x"}`, `toy/whisper needs the capability \"toys\"`},
		{"checked before the lock", "toy:/a", `{"type":"toy/shout","text":""}`, "shouting nothing"},
		{"not subscribed", "toy:/b", `{"type":"toy/add","by":1}`, "not subscribed to this channel: subscribe first"},
		{"absent, kind refuses", "toy:/gone", `{"type":"toy/shout","text":"x"}`, "no such channel"},
		{"absent, ignored", "toy:/gone", `{"type":"toy/add","by":1}`, ""},
		{"unknown scheme", "other:/a", `{"type":"toy/add","by":1}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, k := newToyLog(t, Options{})
			mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/b", "", count{}) })
			s, box := subscriber(1, "c1")
			other, otherBox := subscriber(2, "c2")
			subscribeTo(t, l, s, "toy:/a")
			subscribeTo(t, l, other, "toy:/a")
			before, _ := l.State("toy:/a")
			send(l, s, 1, tc.channel, tc.action)
			var want []string
			if tc.reason != "" {
				want = []string{fmt.Sprintf(`{"channel":%q,"action":%s,"serverSeq":2,"origin":{"clientId":"c1","clientSeq":1},"rejectionReason":"%s"}`, tc.channel, tc.action, tc.reason)}
			}
			wantFrames(t, box, want...)
			wantFrames(t, otherBox)
			if after, _ := l.State("toy:/a"); after != before {
				t.Errorf("state changed: %v", after)
			}
			if len(k.effects) > 0 {
				t.Errorf("effects ran: %v", k.effects)
			}
		})
	}
}

// TestRefuseDispatch refuses actions without decoding them, a short one and one that is
// copied before the log is locked, and then publishes one.
func TestRefuseDispatch(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	s, box := subscriber(1, "c1")
	subscribeTo(t, l, s, "toy:/a")
	for i, action := range []string{`{"any":1}`, `{"any":"` + strings.Repeat("x", heavy.From) + `"}`} {
		for _, uri := range []string{"toy:/gone", "toy:/a"} {
			if err := l.RefuseDispatch(s, ahp.DispatchActionParams{Channel: uri, ClientSeq: int64(i), Action: ahp.Value(action)}, "too many"); err != nil {
				t.Fatal(err)
			}
		}
		wantFrames(t, box, fmt.Sprintf(`{"channel":"toy:/a","action":%s,"serverSeq":%d,"origin":{"clientId":"c1","clientSeq":%d},"rejectionReason":"too many"}`, action, i+2, i))
	}
	send(l, s, 9, "toy:/a", `{"type":"toy/add","by":1}`)
	wantFrames(t, box, `{"channel":"toy:/a","action":{"type":"toy/add","by":1},"serverSeq":4,"origin":{"clientId":"c1","clientSeq":9}}`)
}

func TestGateAndRedaction(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	plain, plainBox := subscriber(1, "plain")
	capable, capableBox := subscriber(2, "capable", "toys")
	if got := string(subscribeTo(t, l, plain, "toy:/a").State); got != `{"n":0}` {
		t.Errorf("redacted state = %s", got)
	}
	if got := string(subscribeTo(t, l, capable, "toy:/a").State); got != `{"n":0,"secret":"s"}` {
		t.Errorf("full state = %s", got)
	}
	mustUpdate(t, l, func(tx *Tx) error { return tx.Append("toy:/a", whisper{Text: "x"}) })
	wantFrames(t, plainBox)
	// The row needs 0.6.0 and the connection speaks 0.5.1: the capability decides.
	wantFrames(t, capableBox, `{"channel":"toy:/a","action":{"type":"toy/whisper","text":"x"},"serverSeq":2}`)
}

func TestAudience(t *testing.T) {
	l, k := newToyLog(t, Options{})
	a1, a1Box := subscriber(1, "a")
	a2, a2Box := subscriber(2, "a")
	b, bBox := subscriber(3, "b")
	for _, s := range []*Subscriber{a1, a2, b} {
		subscribeTo(t, l, s, "toy:/a")
	}
	send(l, a1, 1, "toy:/a", `{"type":"toy/shout","text":"psst"}`)
	mustUpdate(t, l, func(tx *Tx) error { return tx.AppendTo("toy:/a", shout{"one"}, OnlyConn(3)) })
	mustUpdate(t, l, func(tx *Tx) error { return tx.AppendTo("toy:/a", shout{"a"}, Audience{Clients: []string{"a"}}) })
	echo := `{"channel":"toy:/a","action":{"type":"toy/shout","text":"psst"},"serverSeq":2,"origin":{"clientId":"a","clientSeq":1}}`
	one := `{"channel":"toy:/a","action":{"type":"toy/shout","text":"one"},"serverSeq":3}`
	toA := `{"channel":"toy:/a","action":{"type":"toy/shout","text":"a"},"serverSeq":4}`
	wantFrames(t, a1Box, echo, toA)
	wantFrames(t, a2Box, toA)
	wantFrames(t, bBox, one)
	if diff := cmp.Diff([]string{"toy/shout"}, k.effects); diff != "" {
		t.Error(diff)
	}
	// A replay gives the sender its echo; an entry for one connection is not replayed.
	for client, want := range map[string][]string{"a": {echo, toA}, "b": nil} {
		s, _ := subscriber(9, client)
		var got []string
		mustUpdate(t, l, func(tx *Tx) error {
			mark := tx.Bookmark(b)
			r := tx.Resume(s, mark, 1, []string{"toy:/a"})
			if !r.Replay {
				t.Errorf("%s: want a replay", client)
			}
			for _, e := range r.Entries {
				got = append(got, string(e.Envelope()))
			}
			return nil
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: replay (-want +got):\n%s", client, diff)
		}
	}
}

func TestTransactionMirrorsIntoParent(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/a/1", "toy:/a", count{}) })
	s, box := subscriber(1, "c")
	subscribeTo(t, l, s, "toy:/a")
	subscribeTo(t, l, s, "toy:/a/1")
	send(l, s, 1, "toy:/a/1", `{"type":"toy/add","by":5}`)
	wantFrames(t, box,
		`{"channel":"toy:/a/1","action":{"type":"toy/add","by":5},"serverSeq":2,"origin":{"clientId":"c","clientSeq":1}}`,
		`{"channel":"toy:/a","action":{"type":"toy/add","by":5},"serverSeq":3}`)
}

func TestRemoveEndsSubscriptionsAndChildren(t *testing.T) {
	l, k := newToyLog(t, Options{})
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/a/1", "toy:/a", count{}) })
	s, box := subscriber(1, "c")
	subscribeTo(t, l, s, "toy:/a")
	subscribeTo(t, l, s, "toy:/a/1")
	mustUpdate(t, l, func(tx *Tx) error { tx.Remove("toy:/a"); return nil })
	if diff := cmp.Diff([]string{"c toy:/a", "c toy:/a/1"}, k.left); diff != "" {
		t.Error(diff)
	}
	send(l, s, 1, "toy:/a/1", `{"type":"toy/add","by":5}`)
	wantFrames(t, box)
	err := l.Update(func(tx *Tx) error { _, err := tx.Subscribe(s, "toy:/a/1"); return err })
	if !errors.Is(err, ahp.ErrNotFound) {
		t.Errorf("subscribe to a removed channel: %v", err)
	}
}

func TestUnsubscribeKeepsTheOthers(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	var subs []*Subscriber
	var boxes []*inbox
	for i := range 5 {
		s, box := subscriber(ConnID(i+1), fmt.Sprint("c", i))
		subs, boxes = append(subs, s), append(boxes, box)
		subscribeTo(t, l, s, "toy:/a")
	}
	for _, gone := range []int{0, 4, 2} {
		l.Unsubscribe(subs[gone], "toy:/a")
	}
	mustUpdate(t, l, func(tx *Tx) error { return tx.Append("toy:/a", add{1}) })
	for i, box := range boxes {
		want := 0
		if i == 1 || i == 3 {
			want = 1
		}
		if len(box.frames) != want {
			t.Errorf("subscriber %d got %d frames, want %d", i, len(box.frames), want)
		}
	}
}

func TestEffectsRunInLogOrderAndMayCallTheLog(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	var order []int
	mustUpdate(t, l, func(tx *Tx) error {
		tx.Later(func() {
			order = append(order, 1)
			l.Update(func(tx *Tx) error { tx.Later(func() { order = append(order, 3) }); return nil })
			order = append(order, 2)
		})
		return nil
	})
	if diff := cmp.Diff([]int{1, 2, 3}, order); diff != "" {
		t.Error(diff)
	}
}

// TestReasonQuotesAnything: a reason that quotes invalid UTF-8 is encoded as valid.
func TestReasonQuotesAnything(t *testing.T) {
	e := newEntry(1, "toy:/1", &ahp.EncodedAction{Raw: ahp.Value(`{"type":"toy/add"}`)}, &ahp.Origin{ClientID: "c", ClientSeq: 1}, "no \xffthing", Audience{})
	var envelope ahp.ActionEnvelope
	if err := ahp.Unmarshal(e.Envelope(), &envelope); err != nil || envelope.RejectionReason != "no \uFFFDthing" {
		t.Errorf("%s: %v", e.Envelope(), err)
	}
}

// TestOwner: a channel's parent must exist, and drops the channel when that is removed.
func TestOwner(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	err := l.Update(func(tx *Tx) error { return tx.Create("toy:/none/1", "toy:/none", count{}) })
	if err == nil {
		t.Error("created a channel whose parent does not exist")
	}
	mustUpdate(t, l, func(tx *Tx) error { return tx.Create("toy:/a/1", "toy:/a", count{}) })
	mustUpdate(t, l, func(tx *Tx) error { tx.Remove("toy:/a/1"); return nil })
	if owns := l.channels["toy:/a"].owns; len(owns) > 0 {
		t.Errorf("the parent still owns %v", owns)
	}
}
