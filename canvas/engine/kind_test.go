package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// clientHost returns a host with a canvas that the client "owner" provides, and two
// subscribed connections: the owner's and a View's.
func clientHost(t *testing.T) (h *canvastest.Host, f *fake, reg canvas.Registration, channel string, owner, view *canvastest.View) {
	t.Helper()
	h, f = canvastest.New(t, engine.Options{}), &fake{}
	reg = h.Register(canvas.Extension{ClientID: "owner", Session: canvastest.Session}, f, fakeDeclaration)
	o, err := open(h, "one", "")
	ok(t, err)
	owner, view = h.Connect("owner"), h.Connect("view")
	owner.Subscribe(o.Channel)
	view.Subscribe(o.Channel)
	return h, f, reg, o.Channel, owner, view
}

// TestUpdatedByItsProvider tests the row canvas/updated of canvas/PROTOCOL.md
// section 4.
func TestUpdatedByItsProvider(t *testing.T) {
	h, _, reg, ch, owner, view := clientHost(t)
	view.Subscribe(canvastest.Session)
	update := func(members string) string { return `{"type":"canvas/updated",` + members + `}` }

	owner.Dispatch(ch, update(`"title":"mine","x-later":1`))
	want := ch + ` {"type":"canvas/updated","title":"mine","x-later":1}`
	equal(t, []string{want}, owner.Brief())
	heard := view.Brief()
	equal(t, want, heard[0])
	equal(t, 2, len(heard)) // and the catalog follows
	equal(t, "mine", *h.SessionState().OpenCanvases[0].Title)

	owner.Dispatch(ch, update(`"title":"mine"`))
	equal(t, []string{ch + ` {"type":"canvas/updated","title":"mine"}`}, view.Brief()) // echoed; the catalog does not change
	owner.Dispatch(ch, update(`"title":null,"url":"vscode-webview://x/y"`))
	if st := h.State(ch); st.Title != nil || *st.URL != "vscode-webview://x/y" {
		t.Errorf("state is %+v", st)
	}
	owner.Take()
	view.Take()

	for sent, cleaned := range map[string]string{
		`"title":"` + strings.Repeat("x", 513) + `"`:                     `"title":"` + strings.Repeat("x", 511) + `…"`,
		`"status":"a\u0007b"`:                                            `"status":"a b"`,
		`"status":"a","_meta":{"x-ahp-canvas/closing":{"clientId":"x"}}`: `"status":"a"`,
	} {
		owner.Dispatch(ch, update(sent))
		equal(t, []string{ch + " " + update(cleaned)}, owner.Brief())
	}
	view.Take()

	before := h.State(ch)
	for members, why := range map[string]string{
		`"availability":"stale"`:                        "/availability: only the host sets it",
		`"availability":"ready"`:                        "/availability: only the host sets it",
		`"input":{}`:                                    "/input: only the host sets it",
		`"title":"a\u0007b","url":"http://10.0.0.1/"`:   "http is allowed for localhost and 127.0.0.1 only",
		`"url":"http://10.0.0.1/"`:                      "http is allowed for localhost and 127.0.0.1 only",
		`"url":"ahp-canvas-content:/two/index.html"`:    "the url is the content address of another instance",
		`"url":"ahp-canvas-content:/one/../index.html"`: "the url is no content address: the path holds an empty segment or one of dots",
	} {
		owner.Dispatch(ch, update(members))
		equal(t, []string{ch + " " + update(members) + " ! " + why}, owner.Brief())
	}
	view.Dispatch(ch, update(`"title":"not mine"`))
	equal(t, []string{ch + ` {"type":"canvas/updated","title":"not mine"} ! only the canvas's provider may update it`}, view.Brief())
	equal(t, before, h.State(ch))

	reg.SetReachable(false)
	owner.Take()
	owner.Dispatch(ch, update(`"title":"stale"`))
	equal(t, []string{ch + ` {"type":"canvas/updated","title":"stale"} ! this canvas is stale: its provider has not opened it again`}, owner.Brief())
}

// TestUpdatedWhileItIsOpenedAgain: updates that a provider dispatches before it
// answers an open are applied (canvas/PROTOCOL.md section 3), even if the canvas is
// stale until then. Updates to a stale canvas are rejected before the open begins
// and after it fails.
func TestUpdatedWhileItIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg, ch, owner, view := clientHost(t)
		answers := make(chan error)
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			return canvas.Opened{URL: "https://example.com/2"}, <-answers
		}
		restoring := `{"type":"canvas/updated","status":"restoring"}`
		refused := []string{ch + " " + restoring + " ! this canvas is stale: its provider has not opened it again"}
		reg.SetReachable(false)
		owner.Take()
		owner.Dispatch(ch, restoring)
		equal(t, refused, owner.Brief())
		reg.SetReachable(true)
		synctest.Wait()
		view.Take()
		owner.Dispatch(ch, restoring)
		equal(t, []string{ch + " " + restoring}, view.Brief())
		answers <- errors.New("it cannot")
		synctest.Wait()
		owner.Take()
		owner.Dispatch(ch, restoring)
		equal(t, refused, owner.Brief())
		reg.SetReachable(false)
		reg.SetReachable(true)
		synctest.Wait()
		answers <- nil
		synctest.Wait()
		st := h.State(ch)
		equal(t, session.Ready, st.Availability)
		equal(t, "restoring", *st.Status)
	})
}

// TestUpdatedOfAServerCanvas: no client can update a canvas of the host, not even
// one with an empty client id.
func TestUpdatedOfAServerCanvas(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	v := h.Connect("")
	v.Subscribe(o.Channel)
	v.Dispatch(o.Channel, `{"type":"canvas/updated","title":"x"}`)
	equal(t, "only the canvas's provider may update it", v.Take()[0].RejectionReason)
}

// TestMessagesOfAClientCanvas: a View's message reaches the provider and its sender;
// a provider's message reaches every subscriber.
func TestMessagesOfAClientCanvas(t *testing.T) {
	h, f, reg, ch, owner, view := clientHost(t)
	other := h.Connect("other")
	other.Subscribe(ch)
	view.Say(ch, `{"a":1}`)
	want := []string{ch + ` {"type":"canvas/message","payload":{"a":1}}`}
	equal(t, want, view.Brief())
	equal(t, want, owner.Brief())
	equal(t, nil, other.Brief())
	owner.Say(ch, `"to all"`)
	for _, v := range []*canvastest.View{view, owner, other} {
		equal(t, []string{ch + ` {"type":"canvas/message","payload":"to all"}`}, v.Brief())
	}
	owner.Leave()
	view.Say(ch, `1`)
	equal(t, "the canvas's provider cannot be reached now", view.Take()[0].RejectionReason)
	reg.SetReachable(false)
	view.Take()
	view.Say(ch, `2`)
	equal(t, "this canvas is stale: its provider cannot be reached", view.Take()[0].RejectionReason)
	equal(t, []string{"open one "}, f.took()) // messages travel on the wire without a call
}

// TestMessagesOfAServerCanvas: messages reach only the provider, in the order of the
// log.
func TestMessagesOfAServerCanvas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		o, err := open(h, "one", "")
		ok(t, err)
		f.took()
		a, b := h.Connect("a"), h.Connect("b")
		a.Subscribe(o.Channel)
		b.Subscribe(o.Channel)
		f.heard = func(from canvas.View, payload ahp.Value) {
			if from.ClientID == "a" {
				ok(t, f.latest().h.PostTo(t.Context(), from, ahp.Value(`"for you"`)))
				ok(t, f.latest().h.Post(t.Context(), ahp.Value(`"for all"`)))
			}
		}
		a.Say(o.Channel, `1`)
		b.Say(o.Channel, `2`)
		b.Leave()
		a.Say(o.Channel, `3`)
		synctest.Wait()
		equal(t, []string{"message a 1", "message b 2", "gone b", "message a 3"}, f.took())
		payloads := func(v *canvastest.View) (out []string) {
			for _, e := range v.Take() {
				out = append(out, strings.TrimPrefix(string(e.Action), `{"type":"canvas/message","payload":`))
			}
			return out
		}
		for _, p := range payloads(b) {
			if p == `1}` || p == `3}` || p == `"for you"}` {
				t.Errorf("b received %s", p)
			}
		}
		received := fmt.Sprint(payloads(a))
		if !strings.Contains(received, `"for you"}`) || strings.Contains(received, `2}`) {
			t.Errorf("a received %s", received)
		}
		b.Say(o.Channel, `4`)
		equal(t, "not subscribed to this channel: subscribe first", b.Take()[0].RejectionReason)
		a.Say(o.Channel, `"`+strings.Repeat("x", 64<<10)+`"`)
		equal(t, "/payload: the payload has 65538 bytes, at most 65536 are allowed", a.Take()[0].RejectionReason)
		a.Say("ahp-canvas:/none", `1`)
		equal(t, "no canvas is open on this channel", a.Take()[0].RejectionReason)
		a.Dispatch("ahp-canvas:/none", `{"type":"canvas/updated","title":"x"}`)
		equal(t, nil, a.Brief())
	})
}

// TestMailboxIsFull: when a provider does not take messages, Views receive
// rejections, and no accepted message is lost.
func TestMailboxIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{MailboxBytes: 3 * 300}})
		o, err := open(h, "one", "")
		ok(t, err)
		f.took()
		stuck := make(chan struct{})
		f.heard = func(canvas.View, ahp.Value) { <-stuck }
		v := h.Connect("v")
		v.Subscribe(o.Channel)
		for n := range 5 {
			v.Say(o.Channel, fmt.Sprint(n))
			synctest.Wait()
		}
		var refused []string
		for _, e := range v.Take() {
			refused = append(refused, e.RejectionReason)
		}
		full := "the canvas's provider has not taken earlier messages yet: send this one again later"
		equal(t, []string{"", "", "", full, full}, refused)
		for range 100 { // reports of disconnected Views do not accumulate
			v.Leave()
			v.Subscribe(o.Channel)
		}
		close(stuck)
		synctest.Wait()
		equal(t, []string{"message v 0", "message v 1", "message v 2", "gone v"}, f.took())
		v.Say(o.Channel, `6`)
		synctest.Wait()
		equal(t, []string{"message v 6"}, f.took())
	})
}

// TestWithoutTheCapability: a connection without the capability sees no canvas
// channel.
func TestWithoutTheCapability(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	blind := h.Connect("blind", "mcpApps")
	if _, err := blind.TrySubscribe(o.Channel); err != ahp.ErrNotFound {
		t.Errorf("subscribed: %v", err)
	}
	blind.Say(o.Channel, `1`)
	equal(t, nil, blind.Brief())
	if snap := blind.Subscribe(canvastest.Session); strings.Contains(string(snap.State), "anvases") {
		t.Errorf("it sees %s", snap.State)
	}
}

// TestPostToZeroView: a message to the zero View fails and reaches no View.
func TestPostToZeroView(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	for name, post := range map[string]func(context.Context, canvas.View, ahp.Value) error{"PostTo": f.latest().h.PostTo, "PostEncoded": f.latest().h.PostEncoded} {
		if post(t.Context(), canvas.View{}, ahp.Value(`"secret"`)) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	equal(t, 0, len(v.Take()))
}

// TestRetention: a message to all subscribers is replayed, a message to one View is
// not.
func TestRetention(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	v := h.Connect("v")
	snap := v.Subscribe(o.Channel)
	ok(t, f.latest().h.Post(t.Context(), ahp.Value(`"all"`)))
	ok(t, f.latest().h.PostTo(t.Context(), canvas.View{Conn: v.Sub.ID}, ahp.Value(`"one"`)))
	equal(t, 2, len(v.Take()))
	back := h.Connect("v")
	mark := h.Log.Leave(v.Sub)
	_ = h.Log.Update(func(tx *channels.Tx) error {
		r := tx.Resume(back.Sub, mark, snap.FromSeq, []string{o.Channel})
		if !r.Replay || len(r.Entries) != 1 || !strings.Contains(string(r.Entries[0].Envelope()), `"all"`) {
			t.Errorf("replayed %d entries", len(r.Entries))
		}
		return nil
	})
}
