package chart_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
)

func TestProvider(t *testing.T) {
	canvastest.TestProvider(t, canvastest.Config{
		Provider: chart.New(), Declaration: chart.New().Declarations()[0],
		Input: ahp.Value(`{"title":"Sales"}`), Other: ahp.Value(visits),
		Action: "set_query", ActionInput: ahp.Value(`{"kind":"bar"}`), Path: "/",
	})
}

func newHost(t *testing.T) (*canvastest.Host, canvas.Registration) {
	t.Helper()
	h := canvastest.New(t, engine.Options{})
	return h, h.Register(chart.New().Extension(), chart.New(), chart.New().Declarations()...)
}

func invoke(t *testing.T, h *canvastest.Host, name, input string) (string, error) {
	t.Helper()
	v, err := h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: "c", ActionName: name, Input: ahp.Value(input)})
	return string(v), err
}

// TestTwoViews: both Views receive the changes in one order, a failed request is
// answered with the reason, and a provider that was unreachable gets the chart back.
func TestTwoViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, reg := newHost(t)
		o := h.Open(chart.CanvasID, "c", ahp.Value(visits))
		if o.Title != "<i>Visits</i>" || o.Status != "Visits by Page" {
			t.Errorf("opened as %+v", o)
		}
		one, two := h.Connect("one"), h.Connect("two")
		one.Subscribe(o.Channel)
		two.Subscribe(o.Channel)
		one.Say(o.Channel, `{"sample":"do","ref":1,"action":"set_query","input":{"groupBy":"Device"}}`)
		two.Say(o.Channel, `{"sample":"do","ref":2,"action":"set_query","input":{"groupBy":"Nothing"}}`)
		two.Say(o.Channel, `{"sample":"do","ref":3,"action":"set_data","input":`+visits+`}`) // only for the agent
		synctest.Wait()
		received := strings.Join(two.Brief(), "\n")
		for _, want := range []string{
			`"revision":2,"state":{"title":"<i>Visits</i>","source":"Counter","query":{"measure":"Visits","aggregate":"sum","groupBy":"Device"`,
			`"sample":"refused","ref":2,"code":"chart_column_not_found","message":"no text column is called \"Nothing\"; the text columns are Page, Device"`,
			`"sample":"refused","ref":3,"code":"canvas_action_no_handler"`,
		} {
			if !strings.Contains(received, want) {
				t.Errorf("%s is not in\n%s", want, received)
			}
		}
		before, err := invoke(t, h, "get_data", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		reg.SetReachable(false)
		reg.SetReachable(true)
		synctest.Wait()
		if after, err := invoke(t, h, "get_data", `{}`); err != nil || after != before {
			t.Errorf("after the provider was unreachable: %s, %v\nbefore: %s", after, err, before)
		}
		h.Open(chart.CanvasID, "c", ahp.Value(`{"query":{"kind":"line"}}`)) // keeps the data
		if after, _ := invoke(t, h, "get_query", `{}`); !strings.Contains(after, `"groupBy":"Device","splitBy":"","filter":{},"kind":"line"`) {
			t.Errorf("opened with another query: %s", after)
		}
	})
}

// TestSchema: the host checks an input before the chart receives it.
func TestSchema(t *testing.T) {
	h, _ := newHost(t)
	h.Open(chart.CanvasID, "c", nil)
	for _, c := range []struct{ action, input string }{
		{"set_query", `{"kind":"pie"}`}, {"set_query", `{"colour":"red"}`}, {"set_data", `{"columns":[]}`},
	} {
		if _, err := invoke(t, h, c.action, c.input); !errors.Is(err, &canvas.Error{Code: canvas.CodeInputInvalid}) {
			t.Errorf("%s %s: %v", c.action, c.input, err)
		}
	}
}
