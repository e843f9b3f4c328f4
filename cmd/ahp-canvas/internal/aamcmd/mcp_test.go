package aamcmd

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

const testToken = "agt_2354dd550089d210bd2b2354dd550089d210bd2b2354dd550089d210bd2b0000"

// newSite is a foreign site with a free action. It counts the calls of the action.
func newSite(t *testing.T) (address string, calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case aam.WellKnown:
			fmt.Fprint(w, `{"aam_version":"0.1","site":{"name":"Cafe Rosso","domain":"127.0.0.1"},"auth":{"authorize_url":"/agent/authorize","required":true},"actions":[{"id":"check","pricing":"free","params":{"date":{"type":"string"}}}]}`)
		case "/api/aam/token":
			fmt.Fprintf(w, `{"access_token":%q}`, testToken)
		default:
			calls.Add(1)
			if r.Header.Get("Authorization") != "Bearer "+testToken {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, `{"ok":true,"data":"free"}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, calls
}

// connect connects an MCP client to a bridge. A nil answer is a client that cannot ask.
func connect(t *testing.T, trust bool, answer func(question string) string) *mcp.ClientSession {
	t.Helper()
	web := outbound.New(outbound.Options{Loopback: true})
	b := newBridge()
	b.loopback, b.trust, b.client = true, trust, aam.New(aam.Options{HTTP: web, Vendor: "phone.example"})
	ours, theirs := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.server().Run(ctx, ours) }()
	o := &mcp.ClientOptions{}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: answer(r.Params.Message), Content: map[string]any{}}, nil
		}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(); cancel(); <-done; _ = web.Close() })
	return s
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// TestMCP: the four tools of AAM's bridge, by their names and parameters. The person is
// asked what is sent, and the token is in no answer.
func TestMCP(t *testing.T) {
	t.Parallel()
	site, calls := newSite(t)
	var asked string
	s := connect(t, false, func(q string) string { asked = q; return "accept" })
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 4 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	all := ""
	do := func(tool string, args map[string]any) string {
		text, failed := call(t, s, tool, args)
		if failed {
			t.Fatalf("%s: %s", tool, text)
		}
		all += text
		return text
	}
	at := map[string]any{"site_url": site}
	if got := do("aam_discover", at); !strings.Contains(got, `"id":"check"`) {
		t.Error(got)
	}
	invoke := map[string]any{"site_url": site, "action_id": "check", "params": map[string]any{"date": "friday"}}
	if got := do("aam_invoke", invoke); !strings.Contains(got, `"outcome":"sign_in"`) || !strings.Contains(asked, "friday") || !strings.Contains(asked, site) {
		t.Error(got, asked)
	}
	if got := do("aam_authorize_url", at); !strings.Contains(got, "/agent/authorize?vendor=phone.example") {
		t.Error(got)
	}
	do("aam_exchange_token", map[string]any{"site_url": site, "auth_code": "KQ7F-M2XW"})
	if got := do("aam_invoke", invoke); !strings.Contains(got, `"outcome":"done"`) || calls.Load() != 2 {
		t.Error(got, calls.Load())
	}
	if strings.Contains(all, testToken) {
		t.Error("the token is in an answer")
	}
}

// TestMCPAsks: without a person's yes nothing is sent, and a program that cannot ask is
// refused unless it is trusted.
func TestMCPAsks(t *testing.T) {
	t.Parallel()
	site, calls := newSite(t)
	args := map[string]any{"site_url": site, "action_id": "check", "params": map[string]any{"date": "friday"}}
	for _, no := range []string{"decline", "cancel"} {
		if text, failed := call(t, connect(t, false, func(string) string { return no }), "aam_invoke", args); !failed || !strings.Contains(text, aam.CodeDeclined) {
			t.Errorf("%s: %s", no, text)
		}
	}
	if text, failed := call(t, connect(t, false, nil), "aam_invoke", args); !failed || !strings.Contains(text, "--trust-client") {
		t.Errorf("cannot ask: %s", text)
	}
	if calls.Load() != 0 {
		t.Errorf("%d calls without a yes", calls.Load())
	}
	if text, failed := call(t, connect(t, true, nil), "aam_invoke", args); failed || calls.Load() != 1 {
		t.Errorf("trusted: %s", text)
	}
}
