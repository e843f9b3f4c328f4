package mcpapp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// FuzzRequest: whatever a page sends is a request within its limits, or is refused; the
// answer is one JSON text with its id.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x","arguments":{}}}`, `{"id":{"a":1},"method":""}`, `[]`, `{"method":7}`, `null`, "{\"id\":1e999,\"method\":\"x\"}", strings.Repeat("[", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		req, bad := readRequest(strings.NewReader(body), 1<<10)
		if len(body) > 1<<10 && bad == nil {
			t.Fatal("a request that is too long passes")
		}
		if bad == nil {
			if depth, values := ahp.Measure([]byte(body)); depth > maxDepth || values > maxValues {
				t.Fatal("a request that is too deep passes")
			}
			if _, err := withParams(req.Params, func(p *sdk.ReadResourceParams) (any, error) { return p, nil }); err != nil && err.Error() != "invalid params" {
				t.Fatalf("%v", err)
			}
		}
		if raw := response(req.ID, struct{}{}, bad); !json.Valid(raw) {
			t.Fatalf("the answer is %s", raw)
		}
	})
}

// FuzzPolicy: no declared domain adds a directive or a source that is no origin.
func FuzzPolicy(f *testing.F) {
	for _, s := range []string{"https://a.example", "https://x; script-src *", "'unsafe-eval'", "*", "wss://*.b.example:1", "https://x\r\nA: b"} {
		f.Add(s, s)
	}
	var none granted
	plain := strings.Count(none.policy(), ";")
	f.Fuzz(func(t *testing.T, one, two string) {
		var d declaredUI
		d.CSP.Connect, d.CSP.Resource, d.CSP.Frame, d.CSP.Base = []string{one, two}, []string{two}, []string{one}, []string{two}
		if p := grant(d, nil).policy(); p != none.policy() {
			t.Fatalf("without an allowance: %s", p)
		}
		p := grant(d, []string{strings.ToLower(one), strings.ToLower(two)}).policy()
		if strings.Count(p, ";") != plain || strings.ContainsAny(p, "\r\n,") {
			t.Fatalf("the policy is %q", p)
		}
		for source := range strings.FieldsSeq(strings.ReplaceAll(p, ";", " ")) {
			if strings.Contains(source, "*") && !strings.HasPrefix(source, "https://*.") && !strings.HasPrefix(source, "wss://*.") {
				t.Fatalf("source %q in %q", source, p)
			}
		}
	})
}

// FuzzResult: whatever a server returns, what an agent reads of it is JSON within its limits.
func FuzzResult(f *testing.F) {
	for _, s := range []string{`{"content":[{"type":"text","text":"x"}]}`, `{"content":[],"structuredContent":{"a":[1]}}`, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true}`, `{"content":[{"type":"resource","resource":{"uri":"x","text":"y"}}]}`} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, raw string, times int) {
		var r sdk.CallToolResult
		if r.UnmarshalJSON([]byte(raw)) != nil {
			return
		}
		if times > 0 && times < 40 {
			r.Content = append(r.Content, &sdk.TextContent{Text: strings.Repeat(raw, min(times*200, 1+(400<<10)/(len(raw)+1)))})
		}
		got := forAgent(&r)
		depth, values := ahp.Measure(got)
		if !json.Valid(got) || len(got) > 64<<10 || depth > 64 || values > 16384 {
			t.Fatalf("%d bytes, %d levels, %d values: %.200s", len(got), depth, values, got)
		}
	})
}

// FuzzTool: whatever a server lists of a tool, its declaration is made without a panic, and a
// tool without "model" is not declared.
func FuzzTool(f *testing.F) {
	for _, s := range []string{`{"name":"x","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://x"}}}`, `{"name":"y","inputSchema":[],"_meta":{"ui":7}}`, `{"name":"z","_meta":{"ui":{"visibility":["app"]}}}`} {
		f.Add(s)
	}
	g := &Running{server: Server{Name: "fuzz"}}
	f.Fuzz(func(t *testing.T, raw string) {
		var tool sdk.Tool
		if json.Unmarshal([]byte(raw), &tool) != nil {
			return
		}
		set, _ := g.declarations([]*sdk.Tool{&tool})
		hidden := !uiOf(&tool).model
		for _, d := range set {
			if hidden && (d.CanvasID == tool.Name && tool.Name != "fuzz.server" || len(d.Actions) > 0) {
				t.Fatalf("a tool for pages alone is declared: %s", raw)
			}
		}
		_ = withDefaults(&tool, ahp.Value(`{}`))
	})
}
