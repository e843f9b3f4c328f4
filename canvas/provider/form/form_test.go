package form_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
)

const ask = `{"title":"Ship it?","fields":[{"name":"tag","label":"Tag","type":"text","value":"v2","required":true},{"name":"n","label":"Copies","type":"number"}]}`

func TestProvider(t *testing.T) {
	canvastest.TestProvider(t, canvastest.Config{
		Provider: form.New(), Declaration: form.New().Declarations()[0],
		Input: ahp.Value(ask), Other: ahp.Value(`{"title":"And now?","fields":[{"name":"x","label":"X","type":"boolean"}]}`),
		Action: "set_fields", ActionInput: ahp.Value(`{"fields":[{"name":"y","label":"Y","type":"date"}]}`), Path: "/",
		Decisions: []string{
			`{"sample":"do","ref":1,"action":"decide","input":{"version":1,"decision":"approved","values":{"tag":"v2"}}}`,
			`{"sample":"do","ref":1,"action":"edit","input":{"version":1,"name":"n","value":3}}`,
		},
	})
}

func newHost(t *testing.T) (*canvastest.Host, canvas.Registration) {
	t.Helper()
	h := canvastest.New(t, engine.Options{})
	return h, h.Register(form.New().Extension(), form.New(), form.New().Declarations()...)
}

func invoke(t *testing.T, h *canvastest.Host, name, input string) (string, error) {
	t.Helper()
	v, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "f", ActionName: name, Input: ahp.Value(input)})
	return string(v), err
}

func answer(t *testing.T, h *canvastest.Host) string {
	t.Helper()
	v, err := invoke(t, h, "get_answer", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAnswer: every View shows what a person enters. The decision is an event and
// stands, also after the provider was unreachable, until the agent asks again.
func TestAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, reg := newHost(t)
		o := h.Open(form.CanvasID, "f", ahp.Value(ask))
		one, two := h.Connect("one"), h.Connect("two")
		one.Subscribe(o.Channel)
		two.Subscribe(o.Channel)
		one.Say(o.Channel, `{"sample":"do","ref":1,"action":"edit","input":{"version":1,"name":"n","value":3}}`)
		synctest.Wait()
		if received := strings.Join(two.Brief(), "\n"); !strings.Contains(received, `"values":{"n":3,"tag":"v2"}`) {
			t.Errorf("the other View received %s", received)
		}
		decide := `{"sample":"do","ref":2,"action":"decide","input":{"version":1,"decision":"approved","values":{"tag":"v3","n":null},"reason":"go"}}`
		one.Say(o.Channel, decide)
		two.Say(o.Channel, decide) // the form is decided already
		synctest.Wait()
		if received := strings.Join(two.Brief(), "\n"); !strings.Contains(received, `"sample":"refused","ref":2,"code":"form_decided"`) {
			t.Errorf("the second decision was answered with %s", received)
		}
		want := `{"form":"f","question":"Ship it?","revision":1,"decision":"approved","values":{"tag":"v3"},"reason":"go"}`
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		if err != nil || len(page.Events) != 1 || string(page.Events[0].Event) != want {
			t.Errorf("events: %+v, %v", page, err)
		}
		if st := h.State(o.Channel); *st.Status != "Approved" {
			t.Errorf("status %q", *st.Status)
		}
		reg.SetReachable(false)
		reg.SetReachable(true)
		synctest.Wait()
		if got := answer(t, h); got != want {
			t.Errorf("after the provider was unreachable: %s", got)
		}
		h.Open(form.CanvasID, "f", ahp.Value(ask)) // the same question
		if got := answer(t, h); got != want {
			t.Errorf("opened with the same input: %s", got)
		}
		h.Open(form.CanvasID, "f", ahp.Value(strings.Replace(ask, "Ship", "Really ship", 1)))
		if got := answer(t, h); got != `{"form":"f","question":"Really ship it?","revision":2,"decision":"pending","values":{"tag":"v2"}}` {
			t.Errorf("opened with another input: %s", got)
		}
		if page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0); err != nil || len(page.Events) != 0 {
			t.Errorf("the decision on the question before is still delivered: %+v, %v", page, err)
		}
		one.Say(o.Channel, `{"sample":"do","ref":3,"action":"decide","input":{"question":"Ship it?","version":2,"decision":"approved","values":{"tag":"v3"}}}`)
		synctest.Wait()
		if received := strings.Join(one.Brief(), "\n"); !strings.Contains(received, `"sample":"refused","ref":3,"code":"form_changed"`) {
			t.Errorf("a decision on another question was answered with %s", received)
		}
		one.Say(o.Channel, `{"sample":"do","ref":4,"action":"decide","input":{"question":"Really ship it?","version":2,"decision":"declined","values":{}}}`)
		synctest.Wait()
		if _, err := invoke(t, h, "reset", `{}`); err != nil {
			t.Fatal(err)
		}
		if page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0); err != nil || len(page.Events) != 0 {
			t.Errorf("a decision from before the reset is still delivered: %+v, %v", page, err)
		}
	})
}

// TestAgentsDoNotDecide: an agent cannot invoke a person's action, or pass a decision
// to its own.
func TestAgentsDoNotDecide(t *testing.T) {
	h, _ := newHost(t)
	h.Open(form.CanvasID, "f", ahp.Value(ask))
	for _, c := range []struct{ action, input, code string }{
		{"decide", `{"version":1,"decision":"approved","values":{"tag":"v2"}}`, canvas.CodeNoHandler},
		{"edit", `{"version":1,"name":"tag","value":"v9"}`, canvas.CodeNoHandler},
		{"set_fields", `{"fields":[{"name":"a","label":"A","type":"text"}],"decision":"approved"}`, canvas.CodeInputInvalid},
	} {
		if _, err := invoke(t, h, c.action, c.input); !errors.Is(err, &canvas.Error{Code: c.code}) {
			t.Errorf("%s: %v, want %s", c.action, err, c.code)
		}
	}
	if diff := cmp.Diff(`{"form":"f","question":"Ship it?","revision":1,"decision":"pending","values":{"tag":"v2"}}`, answer(t, h)); diff != "" {
		t.Error(diff)
	}
}
