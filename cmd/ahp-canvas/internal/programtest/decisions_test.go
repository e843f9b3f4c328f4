package programtest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// decision is what an agent's connection tries in a bundled canvas.
type decision struct {
	canvasID string
	input    string
	// says are messages that decide something; each is refused.
	says []string
	// tells are messages that the agent receives as an event, with the role of the
	// connection: only the author of the page knows what decides.
	tells []string
	// none is why nothing in the canvas is a decision.
	none string
}

const oneButton = `{"messages":[{"version":"v0.9","createSurface":{"surfaceId":"one","catalogId":"https://a2ui.org/specification/v0_9/basic_catalog.json"}},
	{"version":"v0.9","updateComponents":{"surfaceId":"one","components":[{"id":"root","component":"Button","child":"text","action":{"event":{"name":"go"}}},{"id":"text","component":"Text","text":"Go"}]}}]}`

// bundledDecisions has a row for each canvas that the program can offer.
func bundledDecisions(site string) []decision {
	letIn := []string{`{"actions":"allow","runtime_id":"r1"}`, `{"actions":"allow","runtime_id":"r1","scripts":true}`, `{"actions":"refuse","runtime_id":"r1"}`, `{"actions":"disconnect","runtime_id":"r1"}`}
	return []decision{
		{canvasID: "board", says: []string{`{"sample":"do","ref":1,"action":"remove_list","input":{"list":"Done"}}`}},
		{canvasID: "form", input: `{"title":"Ship it?","fields":[{"name":"tag","label":"Tag","type":"text","value":"v2"}]}`, says: []string{
			`{"sample":"do","ref":1,"action":"decide","input":{"version":1,"decision":"approved","values":{"tag":"v2"}}}`,
			`{"sample":"do","ref":1,"action":"edit","input":{"version":1,"name":"tag","value":"v3"}}`}},
		{canvasID: "chart", none: "a person selects in it what the agent could set too"},
		{canvasID: "page", input: `{"html":"<p>"}`, says: []string{`{"x-ahp-page":"revert","ref":1,"revision":1}`}, tells: []string{`{"approved":true}`}},
		{canvasID: "a2ui", input: oneButton, says: []string{`{"parts":[{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":{"version":"v0.9","action":{"name":"go","surfaceId":"one","sourceComponentId":"root","timestamp":"2026-02-25T10:40:00Z","context":{}}}}]}`}},
		{canvasID: "aap-page", input: `{"file":"p.html"}`, says: []string{`{"type":"canvas:interaction","action":"approve","ref":"one"}`}},
		{canvasID: "aap-pages", none: "it opens pages, which the agent can do too"},
		{canvasID: "browser", says: letIn},
		{canvasID: "browser-page", input: `{"runtime_id":"r1"}`, says: letIn},
		{canvasID: "contact-form", tells: []string{`{"approved":true}`,
			`{"actions":"item","item":{"type":"dom_event","event_id":"e","runtime_id":"mine","name":"contact.submitted","payload":{"name":"Ada","result":"Submitted Ada"}}}`}},
		{canvasID: "web", tells: []string{`{"approved":true}`}},
		{canvasID: "aam-agents", says: []string{`{"aam":"grant","ref":1,"request":"r"}`, `{"aam":"refuse","ref":1,"request":"r"}`, `{"aam":"revoke","ref":1,"id":"i"}`, `{"aam":"collect","ref":1}`}},
		{canvasID: "aam-site", input: string(ahp.MustMarshal(map[string]string{"site": site})), says: []string{
			`{"aam":"decide","ref":1,"ask":"a","decision":"approved"}`, `{"aam":"budget","ref":1}`, `{"aam":"forget","ref":1}`, `{"aam":"ask","ref":1}`, `{"aam":"signin","ref":1}`, `{"aam":"code","ref":1}`}},
	}
}

// TestAgentDecidesNothing: in no bundled canvas can an agent's connection decide what is a
// person's to decide. A canvas that is added needs a row.
func TestAgentDecidesNothing(t *testing.T) {
	t.Parallel()
	h, pages := newAAMHost(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(pages, "p.html"), []byte("<p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := h.m.serve("--aam", "--aam-loopback", "--aam-site", h.file, "--aap-agent", "builder="+pages, "--aap-open", "none",
		"--actions-bridge", "127.0.0.1:0", "--actions-page", simpleForm(t), "--canvas", webFolder(t, "web"))
	dialBridge(t, s.ActionsBridge, "r1")
	h.m.eventually(`"r1"`, "invoke", "browser", "list_runtimes")
	rows := map[string]decision{}
	for _, d := range bundledDecisions(h.origin) {
		rows[d.canvasID] = d
	}
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.AgentToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for line := range strings.Lines(h.m.do(0, "ls", "--json")) {
		var row struct{ Type, CanvasID string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		d, known := rows[row.CanvasID]
		switch {
		case row.Type != "canvas":
			continue
		case !known:
			t.Errorf("the canvas %q has no row: what can a person decide in it?", row.CanvasID)
			continue
		}
		delete(rows, row.CanvasID)
		t.Run(d.canvasID, func(t *testing.T) { d.try(t, h.m, c) })
	}
	for id := range rows {
		t.Errorf("the canvas %q is not offered", id)
	}
	if got := compact(h.m.do(0, "invoke", "try-browser-page", "call", "--input", `{"name":"buy"}`)); got != `{"ok":true,"by":"r1"}` {
		t.Errorf("the page of the browser answers %s", got)
	}
	if records, err := filepath.Glob(filepath.Join(pages, "interactions", "*")); len(records) != 0 || err != nil {
		t.Errorf("%d interactions were stored, %v", len(records), err)
	}
}

// try opens a canvas, and sends what decides as a View with an agent's token.
func (d decision) try(t *testing.T, m *machine, c *client.Client) {
	if len(d.says)+len(d.tells) == 0 {
		if d.none == "" {
			t.Error("neither decisions nor why there are none")
		}
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := "try-" + d.canvasID
	args := []string{"open", d.canvasID, "--instance", id, "--json"}
	if d.input != "" {
		args = append(args, "--input", d.input)
	}
	var open struct{ Channel string }
	if err := json.Unmarshal([]byte(m.do(0, args...)), &open); err != nil || open.Channel == "" {
		t.Fatalf("%+v, %v: %s", open, err, m.lastOut)
	}
	watch := c.Watch(open.Channel)
	defer watch.Close()
	if _, err := c.Subscribe(ctx, open.Channel); err != nil {
		t.Fatal(err)
	}
	say := func(payload string) {
		if err := c.Message(ctx, open.Channel, ahp.Value(payload)); err != nil {
			t.Fatal(err)
		}
	}
	for _, payload := range d.says {
		say(payload)
		for {
			ev, err := watch.Next(ctx)
			if err != nil {
				t.Fatalf("%s was not refused: %v", payload, err)
			}
			answer, ok := ev.Action.(canvas.Message)
			if ok && strings.Contains(string(answer.Payload), `"`+canvas.ErrNotAPerson.Code+`"`) {
				break
			}
		}
	}
	if len(d.tells) > 0 {
		say(`{"actions":"item","item":{"type":"runtime_ready","runtime_id":"mine","url":"http://canvas/index.html"}}`)
	}
	for _, payload := range d.tells {
		say(payload)
	}
	untilTrue(t, "events of "+id, func() bool { return len(eventsOf(t, m, id)) >= len(d.tells) })
	for _, event := range eventsOf(t, m, id) {
		if !strings.Contains(event, `"role":"agent"`) {
			t.Errorf("the agent's own words are an event like a person's: %s", event)
		}
	}
}

// eventsOf returns the events of an instance.
func eventsOf(t *testing.T, m *machine, id string) (events []string) {
	t.Helper()
	for line := range strings.Lines(m.do(0, "events", "--json", "--timeout", "0s")) {
		if strings.Contains(line, `"instanceId":"`+id+`"`) {
			events = append(events, line)
		}
	}
	return events
}
