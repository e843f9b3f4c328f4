package programtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// openAs opens a canvas and returns a watch of its channel, and a function that sends a
// message as one of its Views.
func (m *machine) openAs(c *client.Client, canvasID, id, input string) (watch *client.Watch, say func(payload string)) {
	m.t.Helper()
	var open struct{ Channel string }
	out := m.do(0, "open", canvasID, "--instance", id, "--json", "--input", input)
	if err := json.Unmarshal([]byte(out), &open); err != nil || open.Channel == "" {
		m.t.Fatalf("%s: %v", out, err)
	}
	watch = c.Watch(open.Channel)
	m.t.Cleanup(watch.Close)
	if _, err := c.Subscribe(m.t.Context(), open.Channel); err != nil {
		m.t.Fatal(err)
	}
	return watch, func(payload string) {
		m.t.Helper()
		if err := c.Message(m.t.Context(), open.Channel, ahp.Value(payload)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// TestAgentIsNoPerson: an agent's connection cannot decide about a page of a person's
// browser, in the card of that page. What it says in a page that the host does not know, of which
// only the author knows what decides, is an event with its role.
func TestAgentIsNoPerson(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve("--actions-bridge", "127.0.0.1:0", "--actions-page", simpleForm(t), "--canvas", webFolder(t, "web"))
	dialBridge(t, s.ActionsBridge, "r1")
	m.eventually(`"r1"`, "invoke", "browser", "list_runtimes")
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.AgentToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	watch, say := m.openAs(c, "browser-page", "of-r1", `{"runtime_id":"r1"}`)
	for _, payload := range []string{
		`{"actions":"allow","runtime_id":"r1"}`, `{"actions":"allow","runtime_id":"r1","scripts":true}`,
		`{"actions":"refuse","runtime_id":"r1"}`, `{"actions":"disconnect","runtime_id":"r1"}`,
	} {
		say(payload)
		for refused := false; !refused; {
			ev, err := watch.Next(ctx)
			if err != nil {
				t.Fatalf("%s was not refused: %v", payload, err)
			}
			answer, ok := ev.Action.(canvas.Message)
			refused = ok && strings.Contains(string(answer.Payload), `"code":"`+canvas.ErrNotAPerson.Code+`"`)
		}
	}
	if got := compact(m.do(0, "invoke", "of-r1", "call", "--input", `{"name":"buy"}`)); got != `{"ok":true,"by":"r1"}` {
		t.Errorf("the page of the browser answers %s", got)
	}
	for canvasID, tells := range map[string][]string{
		"web": {`{"approved":true}`},
		"contact-form": {`{"actions":"item","item":{"type":"runtime_ready","runtime_id":"mine","url":"http://canvas/index.html"}}`,
			`{"actions":"item","item":{"type":"dom_event","event_id":"e","runtime_id":"mine","name":"contact.submitted","payload":{"name":"Ada","result":"Submitted Ada"}}}`},
	} {
		_, say := m.openAs(c, canvasID, "own-"+canvasID, `{}`)
		for _, payload := range tells {
			say(payload)
		}
		var event string
		untilTrue(t, "event of "+canvasID, func() bool {
			for line := range strings.Lines(m.do(0, "events", "--json")) {
				if strings.Contains(line, `"instanceId":"own-`+canvasID+`"`) {
					event = line
				}
			}
			return event != ""
		})
		if !strings.Contains(event, `"role":"agent"`) {
			t.Errorf("the agent's own words are an event like a person's: %s", event)
		}
	}
}
