package chart_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
)

// TestRevision: an agent takes no choice that a person made of older data, or of an older
// query, for one on the new chart.
func TestRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHost(t)
		o := h.Open(chart.CanvasID, "c", ahp.Value(visits))
		v := h.Connect("v")
		v.Subscribe(o.Channel)
		ask := func(input, want string) {
			t.Helper()
			v.Brief()
			v.Say(o.Channel, `{"sample":"do","ref":1,"action":"set_query","input":`+input+`}`)
			synctest.Wait()
			if got := strings.Join(v.Brief(), "\n"); !strings.Contains(got, want) {
				t.Errorf("%s: %s is not in\n%s", input, want, got)
			}
		}
		does := func(name, input, want string) {
			t.Helper()
			if got, err := invoke(t, h, name, input); err != nil || !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, %v; want %s", name, got, err, want)
			}
		}
		events := func(want ...string) {
			t.Helper()
			page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
			if err != nil || len(page.Events) != len(want) {
				t.Fatalf("events: %+v, %v", page, err)
			}
			for i, e := range page.Events {
				if !strings.Contains(string(e.Event), want[i]) {
					t.Errorf("event %s, want %s", e.Event, want[i])
				}
			}
		}

		ask(`{"groupBy":"Device","version":1}`, `"sample":"done"`)
		ask(`{"groupBy":"Page","version":1}`, `"sample":"done"`) // a person's own changes are no reason to look again
		does("set_query", `{"kind":"line"}`, `{"revision":2,`)
		does("set_query", `{"kind":"line"}`, `{"revision":2,`) // the chart that it was
		ask(`{"groupBy":"Device","version":1}`, `"sample":"refused","ref":1,"code":"chart_changed"`)
		events(`"revision":1,"query":{"measure":"Visits","aggregate":"sum","groupBy":"Device"`, `"revision":1,"query":{"measure":"Visits","aggregate":"sum","groupBy":"Page"`)

		does("set_data", `{"columns":[{"name":"Page","type":"text"},{"name":"Visits","type":"number"}],"rows":[["/new",1]]}`, `{"revision":3,`)
		events() // both were of data that the agent has replaced
		ask(`{"aggregate":"count","version":2}`, `"code":"chart_changed"`)
		ask(`{"aggregate":"count","version":3}`, `"sample":"done"`)
		events(`"revision":3,"query":{"measure":"Visits","aggregate":"count"`)
		does("get_query", `{}`, `{"revision":3,`)
		does("get_data", `{}`, `{"revision":3,`)
		ask(`{"aggregate":"sum"}`, `"sample":"done"`) // a page of an older release

		h.Open(chart.CanvasID, "c", ahp.Value(`{"title":"Other"}`))
		events()
		does("get_query", `{}`, `{"revision":4,`)
	})
}
