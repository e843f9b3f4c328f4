package a2uicanvas_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// scripted is a remote agent whose answers a test gives.
type scripted struct {
	name  string
	turns chan a2ui.Turn // what it was sent
	say   chan a2ui.Reply
	end   chan error
}

func newScripted(name string) *scripted {
	return &scripted{name, make(chan a2ui.Turn, 16), make(chan a2ui.Reply), make(chan error)}
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Send(ctx context.Context, t a2ui.Turn, on func(a2ui.Reply)) error {
	s.turns <- t
	for {
		select {
		case r := <-s.say:
			on(r)
		case err := <-s.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// draws is a reply with messages.
func draws(messages string) a2ui.Reply {
	return a2ui.Reply{Parts: []ahp.Value{ahp.Value(`{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":` + messages + `}`)}}
}

func withAgent(t *testing.T, fn func(b *bench, a *scripted)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := newScripted("finder") // its channels belong to the bubble
		b := newBench(t, engine.Options{}, a2uicanvas.Options{Agents: []a2ui.Agent{a}})
		b.channel = b.Open("a2ui-finder", "i", nil).Channel
		fn(b, a)
	})
}

// TestRemote: what a person does goes to the remote agent with the model, and not to the
// agent of the session; what the agent answers is drawn (rules 19, 21, 33 and 35).
func TestRemote(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		v := b.hello("v")
		v.say(`{"parts":[{"text":"find"}]}`)
		got := <-a.turns
		if got.Text != "find" || got.Model != nil || got.ContextID != "" || len(got.Messages) != 0 {
			t.Errorf("the first turn: %+v", got)
		}
		a.say <- a2ui.Reply{State: "submitted", ContextID: "c1", TaskID: "t1"}
		a.say <- draws(form)
		a.say <- a2ui.Reply{State: "input-required", Text: "Choose.", TaskID: "t1"}
		a.end <- nil
		all := strings.Join(v.take(), "\n")
		for _, want := range []string{`{"a2ui":"status","agent":"finder","state":"working","text":""}`, `"agentDisplayName":"finder"`, `{"a2ui":"status","agent":"finder","state":"input-required","text":"Choose."}`} {
			if !strings.Contains(all, want) {
				t.Errorf("the View lacks %s in\n%s", want, all)
			}
		}
		v.act(action, `{"one":{"n":2},"foreign":{"n":3}}`)
		got = <-a.turns
		if got.ContextID != "c1" || got.TaskID != "t1" || string(got.Model) != `{"version":"v0.9","surfaces":{"one":{"n":2}}}` || len(got.Messages) != 1 || string(got.Messages[0]) != action {
			t.Errorf("the second turn: %+v, %s, %s", got, got.Model, got.Messages)
		}
		a.end <- nil
		answer := make(chan string, 1)
		go func() { answer <- b.invoke("", "say", `{"text":"cheaper"}`) }()
		if got = <-a.turns; got.Text != "cheaper" || string(got.Model) != `{"version":"v0.9","surfaces":{"one":{"n":2}}}` {
			t.Errorf("say: %+v, %s", got, got.Model)
		}
		a.say <- a2ui.Reply{Text: "Done."}
		a.end <- nil
		if got, want := <-answer, `{"text":"Done.","state":"completed","surfaces":[{"surfaceId":"one","components":2,"sendDataModel":true}],"errors":[]}`; got != want {
			t.Errorf("say: %s, want %s", got, want)
		}
		if got := b.events(""); len(got) != 0 {
			t.Errorf("the session's agent reads %v", got)
		}
		for _, action := range []string{"get_data_model", "apply", "get_surfaces"} {
			if got := b.invoke("", action, `{}`); strings.HasPrefix(got, "{") {
				t.Errorf("%s: %s", action, got)
			}
		}
	})
}

// TestSayLater: an answer that takes longer than 5 s is an event.
func TestSayLater(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		begun := time.Now()
		if got := b.invoke("", "say", `{"text":"find"}`); !strings.Contains(got, `"state":"working"`) || time.Since(begun) != 5*time.Second {
			t.Errorf("after %v: %s", time.Since(begun), got)
		}
		if st := b.State(b.channel); *st.Status != "Working…" {
			t.Errorf("status %q", *st.Status)
		}
		const runs = `"x-ahp-canvas/progress":{"done":0,"text":"finder works on it"}`
		if st := b.State(b.channel); !strings.Contains(string(st.Meta), runs) {
			t.Errorf("while the turn runs: %s", st.Meta)
		}
		a.say <- a2ui.Reply{Text: "Found.", State: "completed"}
		a.end <- nil
		if got := b.events(""); len(got) != 1 || got[0] != `{"type":"a2ui.reply","agent":"finder","text":"Found.","state":"completed"}` {
			t.Errorf("events %v", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if st := b.State(b.channel); strings.Contains(string(st.Meta), "progress") {
			t.Errorf("after the turn: %s", st.Meta)
		}
	})
}

// TestCorrection: what the agent sent wrong goes back once, and not again before the
// next act (rule 34).
func TestCorrection(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		wrong := draws(`[` + surfaceOne + `,{"version":"v0.9","updateComponents":{"surfaceId":"one","components":[{"id":"root","component":"Row","children":null}]}},{"version":"v0.9","updateDataModel":{"surfaceId":"none","value":1}}]`)
		v := b.hello("v")
		for range 2 {
			v.say(`{"parts":[{"text":"find"}]}`)
			<-a.turns
			a.say <- wrong
			a.end <- nil
			got := <-a.turns
			all := string(ahp.MustMarshal(got.Messages))
			if !strings.Contains(all, `"error":{"code":"VALIDATION_FAILED","surfaceId":"one","path":"/components/0/children"`) || !strings.Contains(all, `"code":"a2ui_surface_not_found","surfaceId":"none"`) {
				t.Errorf("the correction is %s", all)
			}
			for _, m := range got.Messages {
				if _, err := a2ui.ReadMessage(m); err != nil {
					t.Errorf("%s: %v", m, err)
				}
			}
			a.say <- wrong // again wrong
			a.end <- nil
			synctest.Wait()
			if len(a.turns) != 0 {
				t.Fatal("the host argues")
			}
		}
	})
}

// TestBusy: one turn at a time; eight wait, and the next is refused.
func TestBusy(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		v := b.hello("v")
		for range 9 {
			v.say(`{"parts":[{"text":"more"}]}`)
		}
		v.take()
		if len(a.turns) != 1 {
			t.Errorf("%d turns at a time", len(a.turns))
		}
		v.say(`{"parts":[{"text":"more"}]}`)
		if got := v.take(); len(got) != 1 || !strings.Contains(got[0], `"a2ui":"refused","code":"canvas_limit_exceeded"`) {
			t.Errorf("the tenth: %v", got)
		}
		if got := b.invoke("", "say", `{"text":"x"}`); !strings.HasPrefix(got, canvas.CodeLimitExceeded) {
			t.Errorf("say: %s", got)
		}
		for range 9 {
			<-a.turns
			a.end <- nil
			synctest.Wait()
		}
	})
}

// TestSilent: an agent without a word for 120 s ends its turn, and one that keeps talking
// has time.
func TestSilent(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		v := b.hello("v")
		v.say(`{"parts":[{"text":"find"}]}`)
		<-a.turns
		for range 3 {
			<-time.After(119 * time.Second)
			a.say <- a2ui.Reply{State: "working"}
		}
		v.take()
		begun := time.Now()
		<-time.After(121 * time.Second)
		if got := v.take(); len(got) != 1 || !strings.Contains(got[0], `"state":"silent"`) {
			t.Errorf("after %v: %v", time.Since(begun), got)
		}
	})
}

// TestUnavailable: an agent that cannot be asked is a status for people, and an error for
// the agent of the session.
func TestUnavailable(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		v := b.hello("v")
		answer := make(chan string, 1)
		go func() { answer <- b.invoke("", "say", `{"text":"x"}`) }()
		<-a.turns
		a.end <- a2ui.Errorf(a2ui.CodeAgentUnavailable, "finder answered 503")
		if got := <-answer; got != "a2ui_agent_unavailable  finder answered 503" {
			t.Errorf("say: %s", got)
		}
		if got := v.take(); !strings.Contains(got[len(got)-1], `"state":"unavailable"`) {
			t.Errorf("the View got %v", got)
		}
	})
}

// TestReached: a canvas says that its agent has not been reached, and tries what people
// write nevertheless. It stops saying so once the agent has been reached.
func TestReached(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		v := b.hello("v")
		check := func(when, status, message string) {
			t.Helper()
			synctest.Wait()
			if got := v.take(); len(got) == 0 || !strings.Contains(got[len(got)-1], message) {
				t.Errorf("%s: the View got %v, want %s", when, got, message)
			}
			if st := b.State(b.channel); st.Status == nil && status != "" || st.Status != nil && *st.Status != status {
				t.Errorf("%s: status %v, want %q", when, st.Status, status)
			}
		}
		b.p.SetReached("finder", false)
		check("at the start", "Not reached yet", `"state":"unreached"`)
		b.p.SetReached("finder", false)
		if got := v.take(); len(got) != 0 {
			t.Errorf("said twice: %v", got)
		}
		late := b.hello("late")
		late.say(`{"x-ahp":"view/1","type":"hello"}`)
		v.say(`{"parts":[{"text":"find"}]}`)
		<-a.turns
		a.end <- a2ui.Errorf(a2ui.CodeAgentUnavailable, "finder cannot be reached")
		check("after a turn that failed", "Not reached yet", `"state":"unavailable"`)
		b.p.SetReached("finder", true)
		check("once it is reached", "", `"agent":"finder","text":""`)
		b.p.SetReached("finder", false)
		v.say(`{"parts":[{"text":"find"}]}`)
		<-a.turns
		a.end <- nil
		check("after a turn that worked", "", `"state":"completed"`)
		b.p.SetReached("other", false)
		if got := v.take(); len(got) != 0 {
			t.Errorf("another agent's state: %v", got)
		}
	})
}

// TestCloseDuringTurn: closing the canvas cancels the turn and waits for it.
func TestCloseDuringTurn(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		answer := make(chan string, 1)
		v := b.hello("v")
		v.say(`{"parts":[{"text":"find"}]}`)
		<-a.turns
		v.say(`{"parts":[{"text":"waits"}]}`)
		begun := time.Now()
		go func() {
			answer <- valueOrError(nil, b.Canvases.Close(context.Background(), canvastest.Session, "i"))
		}()
		if got := <-answer; got != "" || time.Since(begun) > time.Second {
			t.Errorf("close: %q after %v", got, time.Since(begun))
		}
		synctest.Wait()
		if len(a.turns) != 0 {
			t.Error("another turn began")
		}
	})
}

// TestStreamSaved: what a stream drew is saved every 500 ms, and at its end.
func TestStreamSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted("finder")
		store := channels.NewMemory()
		ids := 0
		newID := func() string { ids++; return "host" + string(rune('a'+ids)) }
		b := newBench(t, engine.Options{Store: store, NewID: newID}, a2uicanvas.Options{Agents: []a2ui.Agent{a}})
		b.channel = b.Open("a2ui-finder", "i", nil).Channel
		v := b.hello("v")
		v.say(`{"parts":[{"text":"find"}]}`)
		<-a.turns
		a.say <- draws(form)
		rev := parsePart(t, v.take()[1]).Metadata.Rev
		<-time.After(time.Second)
		copied := channels.NewMemory() // what a killed host leaves
		err := store.Load(t.Context(), func(key string, value []byte) error {
			return copied.Commit(t.Context(), channels.Change{Key: key, Value: value})
		})
		if err != nil {
			t.Fatal(err)
		}
		after := newBench(t, engine.Options{Store: copied, NewID: newID}, a2uicanvas.Options{Agents: []a2ui.Agent{newScripted("finder")}})
		synctest.Wait()
		open, err := after.Canvases.ListOpen(canvastest.Session)
		if err != nil || len(open) != 1 {
			t.Fatalf("%v, %v", open, err)
		}
		after.channel = open[0].Channel
		w := after.join("w")
		w.say(`{"parts":[]}`)
		got := w.take()
		if len(got) != 3 || !strings.Contains(got[0], "12345678901234567890.10") || parsePart(t, got[0]).Metadata.Rev <= rev {
			t.Errorf("restored %v, revision was %d", got, rev)
		}
		a.end <- nil
	})
}

// TestNames: the names that a remote agent can have.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"finder": true, "a-1": true, "1": true, "": false, "-a": false, "A": false, "a_b": false, strings.Repeat("a", 32): true, strings.Repeat("a", 33): false} {
		if a2uicanvas.ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

var errOther = errors.New("dial tcp 10.0.0.1:80: secret")

// TestErrorText: an error that is not A2UI's reaches no one with its text.
func TestErrorText(t *testing.T) {
	withAgent(t, func(b *bench, a *scripted) {
		answer := make(chan string, 1)
		go func() { answer <- b.invoke("", "say", `{"text":"x"}`) }()
		<-a.turns
		a.end <- errOther
		if got := <-answer; !strings.HasPrefix(got, "a2ui_agent_unavailable") || strings.Contains(got, "secret") {
			t.Errorf("say: %s", got)
		}
	})
}
