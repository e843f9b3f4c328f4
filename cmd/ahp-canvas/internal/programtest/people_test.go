package programtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestPeople: a person opens an invitation, an agent looks at what that person sees, and
// the owner lists and revokes the browser, and a link with which people only see.
func TestPeople(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.serve()
	b := webtest.Start(t)
	m.do(0, "open", "page", "--instance", "p", "--input", `{"html":"<!doctype html><h1>Plan</h1><script>missing()</script>"}`)
	if got := m.tokens("person", "people", "--json"); len(got) != 0 {
		t.Errorf("before a person came, people lists %s", got)
	}
	b.Open(t, strings.TrimSpace(m.do(0, "link", "--invite"))).Frames(t, 1, webtest.ContentFrame)
	seen := ""
	untilTrue(t, "look at the page", func() bool {
		seen += m.do(0, "look", "p")
		return strings.Contains(seen, "Plan") && strings.Contains(seen, "missing is not defined")
	})
	if !strings.Contains(seen, "open in 1 pages") {
		t.Errorf("look printed %s", seen)
	}
	browsers := m.tokens("person", "people", "--json")
	if len(browsers) != 1 {
		t.Fatalf("people lists the browsers %s", browsers)
	}
	m.do(0, "people", "revoke", browsers[0])
	m.eventually("open in 0 pages", "look", "p")

	b.Open(t, strings.TrimSpace(m.do(0, "link", "--read-only")))
	m.eventually("open in 1 pages", "look", "p")
	readers := m.tokens("token", "token", "list", "--json")
	if len(readers) != 1 {
		t.Fatalf("tokens %v", readers)
	}
	m.do(0, "token", "revoke", readers[0])
	m.eventually("open in 0 pages", "look", "p")
}

// tokens returns the ids of the entries of a kind that a command lists.
func (m *machine) tokens(kind string, args ...string) (ids []string) {
	m.t.Helper()
	for line := range strings.Lines(m.do(0, args...)) {
		var e struct{ ID, Kind string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			m.t.Fatalf("%s: %v", line, err)
		}
		if e.Kind == kind {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

type bearerToken string

func (b bearerToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAnswersFit: the list of the bundled canvases fits 6 KB of a model's context, in each
// of the two forms in which MCP has it, and names each action. The log has the tokens of
// the answers of each tool (bytes/4).
func TestAnswersFit(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve("--browser", "none") // TestStory logs the tokens of looks
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	agent, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.MCP, HTTPClient: &http.Client{Transport: bearerToken(s.AgentToken)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	call := func(tool string, args map[string]any) (text, structured string) {
		t.Helper()
		r, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || r.IsError {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, c := range r.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text
			}
		}
		raw, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %v: %d tokens of text, %d of structure", tool, args, len(text)/4, len(raw)/4)
		return text, string(raw)
	}
	list := func(args map[string]any) (text, structured string) {
		t.Helper()
		return call("list_canvas_capabilities", args)
	}
	text, structured := list(nil)
	t.Logf("the list has %d bytes of text and %d of structure", len(text), len(structured))
	if len(text) > 6000 || len(structured) > 6000 {
		t.Errorf("the list has %d bytes of text and %d of structure", len(text), len(structured))
	}
	for _, action := range []string{"add_card", "edit_file", "set_query", "get_answer"} {
		if !strings.Contains(structured, action) {
			t.Errorf("the list has no %s", action)
		}
	}
	for _, c := range []struct {
		id, action string
		input      map[string]any
		in         map[string]any
	}{
		{"board", "add_card", nil, map[string]any{"list": "To do", "title": "Pack"}},
		{"form", "get_answer", map[string]any{"title": "T", "fields": []any{map[string]any{"name": "a", "label": "A", "type": "text"}}}, nil},
		{"chart", "set_query", nil, map[string]any{"kind": "line"}},
		{"page", "list_files", map[string]any{"html": "<p>"}, nil},
	} {
		list(map[string]any{"describe": c.id})
		open := map[string]any{"canvasId": c.id, "instanceId": c.id}
		if c.input != nil {
			open["input"] = c.input
		}
		call("open_canvas", open)
		invoke := map[string]any{"instanceId": c.id, "actionName": c.action}
		if c.in != nil {
			invoke["input"] = c.in
		}
		call("invoke_canvas_action", invoke)
	}
	call("list_open_canvases", nil)
	call("wait_for_canvas_events", map[string]any{"timeout": 0})
	call("close_canvas", map[string]any{"instanceId": "board"})
	if _, one := list(map[string]any{"describe": "form"}); !strings.Contains(one, `"examples":[`) || !strings.Contains(one, `"inputSchema"`) {
		t.Errorf("the description is %s", one)
	}
}
