package programtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// span is what the test reads of OTLP in JSON.
type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Status                              struct{ Code int }
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue string }
	}
}

// TestOTLP checks that a host exports the spans of an agent's calls to a collector, below
// the agent's own span, and with no input in them.
func TestOTLP(t *testing.T) {
	t.Parallel()
	received := make(chan span, 1024)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for _, resource := range body.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					received <- s
				}
			}
		}
	}))
	defer collector.Close()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") == "" && r.URL.Path == "/traced" {
			t.Error("a web app does not learn the span")
		}
	}))
	defer app.Close()
	m := newMachine(t)
	s := m.serve("--state", "memory", "--otlp", collector.URL, "--open", "board", "--open", "app", "--canvas-url", "app="+app.URL)
	readApp(t, s)
	for _, call := range []string{`{"actionName":"add_card","instanceId":"board","input":{"list":"To do","title":"secret words"}}`, `{"actionName":"nothing","instanceId":"board"}`} {
		callTraced(t, s, call)
	}
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	seen := map[string]span{}
	deadline := time.After(2 * time.Minute)
	for seen["provider"].Name == "" || seen["canvas invoke"].Name == "" || seen["failed"].Name == "" || seen["http exchange"].Name == "" {
		select {
		case one := <-received:
			if text, _ := json.Marshal(one); strings.Contains(string(text), "secret") {
				t.Errorf("a span has a payload: %s", text)
			}
			switch {
			case one.Name == "http exchange":
				seen[one.Name] = one
			case one.TraceID != traceID:
			case one.Status.Code == 2:
				seen["failed"] = one
			default:
				seen[one.Name] = one
			}
		case <-deadline:
			t.Fatalf("received %+v", seen)
		}
	}
	if seen["canvas invoke"].ParentSpanID != "b7ad6b7169203331" || seen["provider"].ParentSpanID != seen["canvas invoke"].SpanID {
		t.Errorf("%+v", seen)
	}
	if a := seen["failed"].Attributes; len(a) == 0 || a[len(a)-1].Value.StringValue != "canvas_action_no_handler" {
		t.Errorf("%+v", seen["failed"])
	}
}

// readApp reads a page of the web app as a person does.
func readApp(t *testing.T, s *server) {
	t.Helper()
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.ViewToken, Subscriptions: []string{s.Session}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	state, _ := c.Session(s.Session)
	for _, open := range state.OpenCanvases {
		if open.InstanceID != "app" {
			continue
		}
		if _, err := c.Subscribe(t.Context(), open.Channel); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadResource(t.Context(), open.Channel, canvas.ContentURL("app", "/traced")); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("the web app is not open: %+v", state.OpenCanvases)
}

// TestTraceReachesProviders checks that an extension learns the agent's span, also of a host
// that exports nothing.
func TestTraceReachesProviders(t *testing.T) {
	t.Parallel()
	needNode(t)
	m := newMachine(t)
	module := strings.Replace(tinyExtension, `description: "For tests" }`, `description: "For tests", actions: [{ name: "trace" }] }`, 1)
	module = strings.Replace(module, `    if (m.method === "canvas.close")`, `    if (m.method === "canvas.action.invoke") send({ id: m.id, result: m.params._meta });
    if (m.method === "canvas.close")`, 1)
	s := m.serve("--state", "memory", "--extension", extensionFolder(t, t.TempDir(), "traced", module))
	const span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	answer := callTraced(t, s, `{"actionName":"trace","instanceId":"traced-panel"}`)
	if !strings.Contains(string(answer), span) {
		t.Errorf("the extension answers %s", answer)
	}
}

// callTraced calls invoke_canvas_action as an agent that records a span.
func callTraced(t *testing.T, s *server, arguments string) []byte {
	t.Helper()
	return callTool(t, s, "invoke_canvas_action", arguments, map[string]string{"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
}

// callTool calls a tool as a client that shows MCP Apps, and returns the answer.
func callTool(t *testing.T, s *server, tool, arguments string, header map[string]string) []byte {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}}}`
	req, err := http.NewRequest(http.MethodPost, s.MCP, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"Authorization": "Bearer " + s.AgentToken, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	}
	maps.Copy(all, header)
	for name, value := range all {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", resp.Status, err, text)
	}
	_, text, _ = bytes.Cut(text, []byte("{"))
	return append([]byte("{"), text...)
}
