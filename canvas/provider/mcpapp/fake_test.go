package mcpapp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fakePage is a View without a library: it does the handshake, shows what it receives in
// order, and has a button that calls a tool.
const fakePage = `<!doctype html><meta charset="utf-8"><title>Fake</title>
<button id="add">Add</button><button id="tell">Tell</button><button id="note">Note</button><button id="full">Full</button><button id="save">Save</button><ol id="log"></ol><p id="answer"></p>
<script>
const messages = [], notify = (method, params) => parent.postMessage({ jsonrpc: "2.0", method, params }, "*");
let me = "nobody", files = [];
const log = (t) => { const li = document.createElement("li"); li.textContent = t; document.querySelector("#log").append(li); };
let id = 0; const waiting = new Map();
const ask = (method, params) => new Promise((r) => { waiting.set(id, r); parent.postMessage({ jsonrpc: "2.0", id: id++, method, params }, "*"); });
addEventListener("message", async ({ data: m }) => {
  if (m.method === undefined) { waiting.get(m.id)?.(m); return; }
  messages.push(m);
  log(m.method + " " + JSON.stringify(m.params).slice(0, 200));
  if (m.method === "tools/list") return parent.postMessage({ jsonrpc: "2.0", id: m.id, result: { tools: [{ name: "paint", inputSchema: { type: "object" } }] } }, "*");
  if (m.method === "tools/call") return parent.postMessage({ jsonrpc: "2.0", id: m.id, result: { content: [{ type: "text", text: me + " " + JSON.stringify(m.params) }] } }, "*");
  if (m.method === "ui/resource-teardown") await ask("ui/message", { content: [{ type: "text", text: "torn down" }] });
  if (m.id !== undefined) parent.postMessage({ jsonrpc: "2.0", id: m.id, error: { code: -32601, message: "Method not found" } }, "*");
});
document.querySelector("#add").onclick = async () => { const m = await ask("tools/call", { name: "count", arguments: { by: 2 } }); document.querySelector("#answer").textContent = JSON.stringify(m.result ?? m.error); };
document.querySelector("#tell").onclick = async () => { const m = await ask("ui/message", { role: "user", content: [{ type: "text", text: "from the app" }] }); document.querySelector("#answer").textContent = JSON.stringify(m.result ?? m.error); };
document.querySelector("#note").onclick = async () => { const m = await ask("ui/open-link", { url: "javascript:alert(1)" }); document.querySelector("#answer").textContent = JSON.stringify(m.result ?? m.error); };
document.querySelector("#full").onclick = async () => { const m = await ask("ui/request-display-mode", { mode: "fullscreen" }); document.querySelector("#answer").textContent = JSON.stringify(m.result ?? m.error); };
document.querySelector("#save").onclick = async () => { const m = await ask("ui/download-file", { contents: files }); document.querySelector("#answer").textContent = JSON.stringify(m.result ?? m.error); };
(async () => {
  const m = await ask("ui/initialize", { appInfo: { name: "fake", version: "1" }, appCapabilities: { tools: {} }, protocolVersion: "2026-01-26" });
  window.context = m.result.hostContext; window.capabilities = m.result.hostCapabilities;
  log("initialized " + m.result.protocolVersion);
  parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, "*");
})();
</script>`

const fakeURI = "ui://fake/page.html"

// runFake is the program of a fake server. FAKE_MCP_SERVER says how it behaves, and each
// call of a tool is a line of the file FAKE_CALLS.
func runFake() {
	mode := os.Getenv("FAKE_MCP_SERVER")
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot read the key "+os.Getenv("FAKE_KEY"))
		os.Exit(3)
	case "child":
		child := exec.Command("sleep", "1000")
		_ = child.Start()
		_ = os.WriteFile(os.Getenv("FAKE_CALLS"), fmt.Append(nil, child.Process.Pid), 0o600)
	case "stubborn": // nothing but SIGKILL ends it and its child
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "1000") // ignores the signal too
		_ = child.Start()
		_ = os.WriteFile(os.Getenv("FAKE_CALLS"), fmt.Appendf(nil, "%d %d", os.Getpid(), child.Process.Pid), 0o600)
		_ = fakeServer(mode, os.Getenv("FAKE_CALLS")).Run(context.Background(), &sdk.StdioTransport{})
		select {}
	case "env":
		fmt.Fprintln(os.Stderr, strings.Join(os.Environ(), "\n"))
	case "silent":
		awaitFile(os.Getenv("FAKE_CALLS") + ".never")
	case "flood":
		flood()
	}
	_ = fakeServer(mode, os.Getenv("FAKE_CALLS")).Run(context.Background(), &sdk.StdioTransport{})
}

// fakeServer returns the server.
func fakeServer(mode, calls string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "Fake", Version: "1.2"}, nil)
	note := func(name string, args any) {
		f, err := os.OpenFile(calls, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintf(f, "%s %s\n", name, args)
			_ = f.Close()
		}
	}
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}, StructuredContent: map[string]any{"shown": t}}
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"what": map[string]any{"type": "string", "default": "everything"}}}
	add := func(name string, meta sdk.Meta, run func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Title: "Title of " + name, Description: "About " + name, InputSchema: schema, Meta: meta}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			note(name, string(r.Params.Arguments))
			return run(ctx, r)
		})
	}
	ui := func(visibility ...any) sdk.Meta {
		m := map[string]any{"resourceUri": fakeURI}
		if visibility != nil {
			m["visibility"] = visibility
		}
		return sdk.Meta{"ui": m}
	}
	add("show", ui(), func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if mode == "capabilities" {
			c := r.ClientCapabilities()
			raw, _ := json.Marshal(c.Extensions)
			//lint:ignore SA1019 it must not declare what is deprecated, either
			others := c.RootsV2 != nil || c.Sampling != nil || c.Elicitation != nil || len(c.Experimental) > 0
			note("capabilities", fmt.Sprintf("%s %v", raw, others))
		}
		if strings.Contains(string(r.Params.Arguments), "wait:") {
			var args struct{ What string }
			_ = json.Unmarshal(r.Params.Arguments, &args)
			awaitFile(strings.TrimPrefix(args.What, "wait:"))
		}
		if strings.Contains(string(r.Params.Arguments), "slowly") {
			time.Sleep(20 * time.Millisecond) // in the server's process
		}
		if strings.Contains(string(r.Params.Arguments), "large") {
			return text(strings.Repeat("x", 300<<10)), nil
		}
		return text("shown " + string(r.Params.Arguments)), nil
	})
	add("show_for_pages", ui("app"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("pages"), nil })
	add("count", sdk.Meta{"ui": map[string]any{"visibility": []any{"app"}}}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if strings.Contains(string(r.Params.Arguments), "forever") {
			<-ctx.Done()
			note("canceled", "count")
			return nil, ctx.Err()
		}
		var args struct{ Bytes int }
		if json.Unmarshal(r.Params.Arguments, &args) == nil && args.Bytes > 0 {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", args.Bytes)}}}, nil
		}
		return text("counted " + string(r.Params.Arguments)), nil
	})
	add("secret_action", sdk.Meta{"ui": map[string]any{"visibility": []any{"model"}}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("model"), nil })
	add("act", nil, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		switch {
		case strings.Contains(string(r.Params.Arguments), "fail"):
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "it cannot act"}}, IsError: true}, nil
		case strings.Contains(string(r.Params.Arguments), "wait:"):
			var args struct{ What string }
			_ = json.Unmarshal(r.Params.Arguments, &args)
			awaitFile(strings.TrimPrefix(args.What, "wait:"))
		case strings.Contains(string(r.Params.Arguments), "withdraw show"):
			s.RemoveTools("show")
		case strings.Contains(string(r.Params.Arguments), "withdraw"):
			s.RemoveTools("count")
		}
		return text("acted"), nil
	})
	if mode == "bad page" {
		add("broken", sdk.Meta{"ui/resourceUri": "ui://fake/broken.html"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("never"), nil })
		resource(s, "ui://fake/broken.html", "text/html", fakePage, nil)
	}
	switch mode {
	case "odd":
		addOdd(s)
	case "many":
		addMany(s, 1019)
	case "too many":
		addMany(s, 1020)
	}
	shown := fakePage
	if name := os.Getenv("FAKE_PAGE"); name != "" {
		if b, err := os.ReadFile(name); err == nil {
			shown = string(b)
		}
	}
	csp := map[string]any{"connectDomains": []any{"https://cesium.com", "https://x; script-src *"}, "resourceDomains": []any{"https://*.tiles.example"}}
	if raw := os.Getenv("FAKE_CSP"); raw != "" {
		clear(csp)
		_ = json.Unmarshal([]byte(raw), &csp)
	}
	resource(s, fakeURI, "text/html;profile=mcp-app", shown, sdk.Meta{"ui": map[string]any{
		"csp":         csp,
		"permissions": map[string]any{"microphone": map[string]any{}},
	}})
	return s
}

func resource(s *sdk.Server, uri, mime, text string, meta sdk.Meta) {
	s.AddResource(&sdk.Resource{URI: uri, Name: uri, MIMEType: mime}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: text, Meta: meta}}}, nil
	})
}

// awaitFile waits for a file, for at most a minute.
func awaitFile(name string) {
	for range 6000 {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond) // in the server's process
	}
}

// addOdd adds tools that cannot be declared unchanged.
func addOdd(s *sdk.Server) {
	one := func(name string, schema any, meta sdk.Meta) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: schema, Meta: meta}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	}
	plain := map[string]any{"type": "object"}
	deep := map[string]any{"type": "string"}
	for range 40 {
		deep = map[string]any{"type": "object", "properties": map[string]any{"x": deep}}
	}
	one("canvas.message", plain, nil)
	one("app_result", plain, nil)
	one(strings.Repeat("n", 128), plain, nil)
	one("deep", deep, nil)
	one("large", map[string]any{"type": "object", "description": strings.Repeat("d", 70<<10)}, nil)
	for n := range 70 {
		one(fmt.Sprintf("ui%02d", n), plain, sdk.Meta{"ui": map[string]any{"resourceUri": fakeURI}})
	}
}

// addMany adds n tools.
func addMany(s *sdk.Server, n int) {
	for i := range n {
		s.AddTool(&sdk.Tool{Name: fmt.Sprintf("tool%04d", i), InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	}
}

// flood writes megabytes without an end of line to both outputs, as FAKE_FLOOD says. On standard
// output they begin a message of JSON, so that a reader waits for its end.
func flood() {
	n, _ := strconv.Atoi(os.Getenv("FAKE_FLOOD"))
	block := []byte(strings.Repeat("x", 1<<20))
	for range n {
		if _, err := os.Stderr.Write(block); err != nil {
			return
		}
	}
	fmt.Print(`{"jsonrpc":"2.0","x":"`)
	for range n {
		if _, err := os.Stdout.Write(block); err != nil {
			return
		}
	}
}
