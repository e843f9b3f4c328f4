package schema_test

import (
	"bytes"
	"context"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
	"github.com/ahp-canvas/ahp-canvas/testcases/demo"
)

// TestLive checks every frame that a real host sends while transcripts are
// played against it, including the whole states that expectations leave open.
func TestLive(t *testing.T) {
	tools(t)
	seen := &watcher{methods: map[string]string{}, frames: map[string]check{}}
	url, door := startHost(t)
	proxy := &conform.Proxy{To: url, Token: "agent-token", Watcher: seen}
	front := httptest.NewServer(proxy)
	opts := conform.Options{URL: "ws" + strings.TrimPrefix(front.URL, "http"), Agent: door, Demo: true, Ours: true, Only: []string{"canvas/", "content/", "provider/o", "reconnect/re", "root/", "session/c"}}
	if os.Getenv("AHP_LONG") == "1" {
		opts.Only = nil
	}
	result, err := conform.Run(t.Context(), opts)
	proxy.Close()
	front.Close()
	if err != nil {
		t.Fatal(err)
	}
	var checks []check
	kinds := map[string]int{}
	for _, c := range seen.frames {
		kinds[c.Schema]++
		checks = append(checks, c)
	}
	t.Logf("%d cases; distinct frames of the host: %v", len(result.Results), kinds)
	for _, want := range []string{"HostNotification", "HostRequest", "HostErrorResponse", "SubscribeResponse", "ReconnectResponse", "CanvasReadResourceResponse"} {
		if kinds[want] == 0 {
			t.Errorf("the host sent no %s", want)
		}
	}
	report(t, run(t, "node", "ajv.mjs", write(t, map[string]any{"cases": checks})))
}

// watcher collects the distinct frames of a host.
type watcher struct {
	mu      sync.Mutex
	methods map[string]string // method by connection and request id
	frames  map[string]check  // by text
}

func (*watcher) Opened(conform.Link, string)            {}
func (*watcher) Ended(conform.Link, bool, ws.CloseCode) {}
func (w *watcher) Frame(l conform.Link, toHost bool, text []byte) [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var f frame
	_ = ahp.Unmarshal(text, &f)
	key := string(rune(l)) + " " + string(f.ID)
	switch {
	case toHost && f.ID != nil && f.Method != nil:
		w.methods[key] = unquote(f.Method)
	case !toHost:
		name := ""
		switch {
		case f.Method != nil && f.ID != nil:
			name = "HostRequest"
		case f.Method != nil:
			name = "HostNotification"
		case f.Error != nil:
			name = "HostErrorResponse"
		default:
			name = upper(w.methods[key]) + "Response"
		}
		w.frames[string(text)] = check{Name: "live", Schema: name, Value: bytes.Clone(text), Valid: true}
	}
	return [][]byte{text}
}

// startHost runs this project's host with the demo extensions.
func startHost(t *testing.T) (url string, door agent) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{ViewToken: "view-token", AgentToken: "agent-token", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := demo.Register(h.Canvases()); err != nil {
		t.Fatal(err)
	}
	hosttest.ServeOn(t, h, ln)
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: "http://" + ln.Addr().String() + "/mcp", Token: "agent-token", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return "ws://" + ln.Addr().String() + "/ahp", agent{c}
}

// agent calls tools at the host's MCP endpoint.
type agent struct{ c *mcp.Client }

func (a agent) Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	return a.c.Call(ctx, tool, args)
}
