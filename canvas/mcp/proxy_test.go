package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// stranger is an MCP server that is not a host; answers are its results by method.
func stranger(t *testing.T, answers map[string]string) *mcp.Client {
	t.Helper()
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		answer := ""
		if json.NewDecoder(r.Body).Decode(&asked) == nil {
			answer = answers[asked.Method]
		}
		if answer == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, asked.ID, answer)
	}))
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: srv.URL, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const (
	strangeHello = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
	strangeTools = `"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`
)

// An MCP server that is not a canvas host is an error that says so.
func TestProxyOfAStranger(t *testing.T) {
	for _, tc := range []struct{ name, hello, tools string }{
		{"no name", strings.Replace(strangeHello, `,"serverInfo":{"name":"x","version":"1"}`, "", 1), strangeTools},
		{"no schema", strangeHello, strings.Replace(strangeTools, `,"inputSchema":{"type":"object"}`, "", 1)},
		{"another schema", strangeHello, strings.Replace(strangeTools, "object", "string", 1)},
		{"a schema that is none", strangeHello, strings.Replace(strangeTools, `{"type":"object"}`, "1", 1)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := stranger(t, map[string]string{"initialize": tc.hello, "tools/list": tc.tools})
			_, err := c.Proxy(t.Context(), mcp.Options{})
			if !errors.Is(err, &canvas.Error{Code: mcp.CodeUnreachable}) || !strings.Contains(err.Error(), "not a canvas host") {
				t.Errorf("the proxy: %v", err)
			}
		})
	}
}

// A host that rejects a call has answered, and is not unreachable.
func TestRejectedCall(t *testing.T) {
	c := stranger(t, map[string]string{
		"initialize": strangeHello, "tools/list": strangeTools, "tools/call": `"error":{"code":-32602,"message":"unknown tool \"later\""}`,
	})
	_, err := c.Call(t.Context(), "later", nil)
	if !errors.Is(err, &canvas.Error{Code: mcp.CodeRefused}) || !strings.Contains(err.Error(), `unknown tool "later"`) {
		t.Errorf("the call: %v", err)
	}
}
