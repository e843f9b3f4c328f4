package mcp_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// noCanvas is an Attach for which no canvas is open.
func noCanvas(attach.Args) (*attach.View, error) {
	return nil, canvas.Errorf(canvas.CodeInstanceNotFound, "none")
}

// appsClient connects a client that shows MCP Apps, or one that does not say so.
func appsClient(t *testing.T, transport sdk.Transport, version string, declares bool) *sdk.ClientSession {
	t.Helper()
	can := &sdk.ClientCapabilities{}
	if declares {
		can.AddExtension("io.modelcontextprotocol/ui", map[string]any{"mimeTypes": []any{"text/html;profile=mcp-app"}})
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "chat", Version: "1"}, &sdk.ClientOptions{Capabilities: can}).Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func toolNames(t *testing.T, c *sdk.ClientSession) (all map[string]*sdk.Tool) {
	t.Helper()
	r, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all = map[string]*sdk.Tool{}
	for _, tool := range r.Tools {
		all[tool.Name] = tool
	}
	return all
}

// chats are the ways in which a client reaches a Server: directly, by requests without a
// session, and through a proxy.
func chats(t *testing.T, server *mcp.Server, list mcp.AppList) map[string]func(declares bool) *sdk.ClientSession {
	t.Helper()
	url := listen(t, mcp.Handler(server)).URL
	return map[string]func(bool) *sdk.ClientSession{
		"session": func(declares bool) *sdk.ClientSession {
			return appsClient(t, &sdk.StreamableClientTransport{Endpoint: url}, "2025-11-25", declares)
		},
		"single": func(declares bool) *sdk.ClientSession {
			return appsClient(t, &sdk.StreamableClientTransport{Endpoint: url}, "2026-07-28", declares)
		},
		"proxy": func(declares bool) *sdk.ClientSession {
			c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			proxy, err := c.Proxy(t.Context(), mcp.Options{List: list})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = proxy.Shutdown(context.Background()) })
			in, out := sdk.NewInMemoryTransports()
			if _, err := proxy.Connect(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			return appsClient(t, out, "2025-11-25", declares)
		},
	}
}

// TestAppsOffered: a chat finds the page, by its address of now or of an earlier version, one
// tool that mounts it, and none of the agent's tools is for pages. The ticket is in _meta alone.
func TestAppsOffered(t *testing.T) {
	apps := appview.New(appview.Options{Attach: noCanvas})
	shown := func(r *sdk.CallToolResult) string {
		return string(ahp.MustMarshal([]any{r.Content, r.StructuredContent}))
	}
	plain := shown(call(t, enter(t, overHTTP(t, mcp.New(newFake(), mcp.Options{})), "2025-11-25"), mcp.ToolOpen, `{"canvasId":"board"}`))
	for name, enter := range chats(t, mcp.New(newFake(), mcp.Options{Apps: apps}), "") {
		t.Run(name, func(t *testing.T) {
			c := enter(true)
			uri, html := apps.Page()
			if got := string(ahp.MustMarshal(c.InitializeResult().Capabilities.Extensions)); got != `{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}` {
				t.Errorf("the server declares %s", got)
			}
			for tool, d := range toolNames(t, c) {
				ui, _ := d.Meta["ui"].(map[string]any)
				visibility, _ := ui["visibility"].([]any)
				want := "model"
				if strings.HasPrefix(tool, "canvas_view_") {
					want = "app"
				}
				if !slices.Equal(visibility, []any{want}) {
					t.Errorf("%s is visible to %v", tool, visibility)
				}
				if got := ui["resourceUri"]; (got == uri) != (tool == mcp.ToolOpen) || tool != mcp.ToolOpen && got != nil {
					t.Errorf("%s mounts %v", tool, got)
				}
				if d.Meta["ui/resourceUri"] != nil {
					t.Errorf("%s has the deprecated member", tool)
				}
			}
			list, err := c.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != uri || list.Resources[0].MIMEType != "text/html;profile=mcp-app" {
				t.Fatalf("resources: %+v, %v", list, err)
			}
			if got := string(ahp.MustMarshal(list.Resources[0].Meta)); got != `{"ui":{"prefersBorder":true}}` {
				t.Errorf("the listed page's _meta: %s", got)
			}
			if got, err := c.ListResourceTemplates(t.Context(), nil); err != nil || len(got.ResourceTemplates) != 1 {
				t.Errorf("templates: %+v, %v", got, err)
			}
			for _, at := range []string{uri, "ui://ahp-canvas/0123456789ab.html"} {
				r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: at})
				if err != nil || len(r.Contents) != 1 || r.Contents[0].Text != html || r.Contents[0].URI != at || r.Contents[0].MIMEType != "text/html;profile=mcp-app" {
					t.Fatalf("%s: %v", at, err)
				}
				if ui := r.Contents[0].Meta["ui"].(map[string]any); len(ui) != 1 || ui["prefersBorder"] != true {
					t.Errorf("the page's _meta: %v", ui)
				}
			}
			if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://ahp-canvas/other.html"}); err == nil {
				t.Error("an address that is not the page's was read")
			}
			r := call(t, c, mcp.ToolOpen, `{"canvasId":"board"}`)
			given, _ := r.Meta["ahp-canvas/view"].(map[string]any)
			ticket, _ := given["ticket"].(string)
			if ticket == "" || ticket != apps.Ticket(given["channel"].(string)) {
				t.Errorf("the result's _meta: %v", r.Meta)
			}
			for _, block := range r.Content {
				if text, ok := block.(*sdk.TextContent); ok && strings.Contains(text.Text, ticket) {
					t.Error("a model reads the ticket")
				}
			}
			if strings.Contains(string(ahp.MustMarshal(r.StructuredContent)), ticket) {
				t.Error("the structured content has the ticket")
			}
			if got := shown(r); got != plain {
				t.Errorf("beside _meta the answer is %s, without chats it is %s", got, plain)
			}
		})
	}
}

// TestAppsListed: the tools for pages are in lists as Options.List says, and can always be
// called: with a wrong ticket they answer as for a canvas that does not exist.
func TestAppsListed(t *testing.T) {
	for _, tc := range []struct {
		list            mcp.AppList
		declares, lists bool
	}{{"", true, true}, {"", false, false}, {mcp.AppsAuto, false, false}, {mcp.AppsAlways, false, true}, {mcp.AppsNever, true, false}} {
		server := mcp.New(newFake(), mcp.Options{Apps: appview.New(appview.Options{Attach: noCanvas}), List: tc.list})
		for name, enter := range chats(t, server, tc.list) {
			c := enter(tc.declares)
			tools := toolNames(t, c)
			for _, tool := range []string{mcp.ToolViewRead, mcp.ToolViewSync} {
				if (tools[tool] != nil) != tc.lists {
					t.Errorf("%s %q, declared %v: %s is listed: %v", name, tc.list, tc.declares, tool, tools[tool] != nil)
				}
				args := `{"channel":"ahp-canvas:/a","ticket":"wrong","view":"00000000000000000000000000000001"`
				if tool == mcp.ToolViewSync {
					args += `,"after":0,"say":[{"seq":1,"payload":1}]`
				}
				r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: ahp.Value(args + "}")})
				switch {
				case tc.list == mcp.AppsNever && err == nil:
					t.Errorf("%s: %s exists", name, tool)
				case tc.list != mcp.AppsNever && (err != nil || !r.IsError || !strings.Contains(string(ahp.MustMarshal(r.StructuredContent)), canvas.CodeInstanceNotFound)):
					t.Errorf("%s: %s with a wrong ticket: %v, %v", name, tool, r, err)
				}
			}
			if tc.list == mcp.AppsNever {
				if tools[mcp.ToolOpen].Meta != nil || call(t, c, mcp.ToolOpen, `{"canvasId":"board"}`).Meta["ahp-canvas/view"] != nil {
					t.Errorf("%s: there is something for chats", name)
				}
				if c.InitializeResult().Capabilities.Extensions != nil || c.InitializeResult().Capabilities.Resources != nil {
					t.Errorf("%s: the server declares %+v", name, c.InitializeResult().Capabilities)
				}
			}
		}
	}
}

// TestAppsArguments: arguments are decoded strictly.
func TestAppsArguments(t *testing.T) {
	server := mcp.New(newFake(), mcp.Options{Apps: appview.New(appview.Options{Attach: noCanvas})})
	c := enter(t, overHTTP(t, server), "2025-11-25")
	for _, args := range []string{
		`{}`, `{"channel":1,"ticket":"","view":""}`, `{"channel":"a","ticket":"b","view":"c","more":1}`, `{"channel":"a","channel":"a","ticket":"b","view":"c"}`,
	} {
		for _, tool := range []string{mcp.ToolViewRead, mcp.ToolViewSync} {
			r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: ahp.Value(args)})
			if err != nil || !r.IsError || !strings.Contains(string(ahp.MustMarshal(r.StructuredContent)), canvas.CodeInputInvalid) {
				t.Errorf("%s %s: %v, %v", tool, args, r, err)
			}
		}
	}
}
