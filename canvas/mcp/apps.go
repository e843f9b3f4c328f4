package mcp

import (
	"context"
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
)

// The names of the tools that the page of a chat calls. Models do not see them, and what
// protects them is the ticket (package appview).
const (
	// ToolViewRead reads the document of a canvas.
	ToolViewRead = "canvas_view_read"
	// ToolViewSync carries messages of a canvas in both directions.
	ToolViewSync = "canvas_view_sync"
)

// AppList says which clients see the tools of Options.Apps in a list of tools. Any client may
// call them.
type AppList string

// The values of AppList.
const (
	// AppsAuto lists them to clients that declare MCP Apps: others might show them to models.
	AppsAuto AppList = "auto"
	// AppsAlways lists them to every client.
	AppsAlways AppList = "always"
	// AppsNever means that there is nothing for chats: no such tools, and no metadata.
	AppsNever AppList = "never"
)

// UnmarshalText implements encoding.TextUnmarshaler, for a flag.
func (l *AppList) UnmarshalText(text []byte) error {
	switch v := AppList(text); v {
	case AppsAuto, AppsAlways, AppsNever:
		*l = v
		return nil
	}
	return canvas.Errorf(canvas.CodeInputInvalid, "%q: want auto, always or never", text)
}

// MarshalText implements encoding.TextMarshaler.
func (l AppList) MarshalText() ([]byte, error) {
	if l == "" {
		l = AppsAuto
	}
	return []byte(l), nil
}

// Names of MCP Apps (SEP-1865).
const (
	appsExtension = "io.modelcontextprotocol/ui"
	appsType      = "text/html;profile=mcp-app"
	metaUI        = "ui"
	// metaView is the member of a result's _meta that has the channel of a canvas and its
	// ticket.
	metaView = "ahp-canvas/view"
)

func appsSettings() map[string]any { return map[string]any{"mimeTypes": []any{appsType}} }

// toolMeta returns the _meta of a tool for models, nil without Options.Apps. Only the tool
// that opens a canvas names the page: a chat mounts one page for each result of such a tool.
func toolMeta(name string, opts Options) sdk.Meta {
	if opts.Apps == nil {
		return nil
	}
	ui := map[string]any{"visibility": []any{"model"}}
	if name == ToolOpen {
		ui["resourceUri"], _ = opts.Apps.Page()
	}
	return sdk.Meta{metaUI: ui}
}

// viewMeta returns what lets the page of a chat show a canvas. It is in _meta, which clients
// keep from models: with it, a model could act as a person.
func (s *Server) viewMeta(channel string) sdk.Meta {
	if s.opts.Apps == nil {
		return nil
	}
	return sdk.Meta{metaView: map[string]any{"channel": channel, "ticket": s.opts.Apps.Ticket(channel)}}
}

// addApps adds the page and its tools.
func (s *Server) addApps() {
	uri, html := s.opts.Apps.Page()
	meta := sdk.Meta{metaUI: map[string]any{"prefersBorder": true}}
	read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		if !appview.IsPage(req.Params.URI) {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: appsType, Text: html, Meta: meta}}}, nil
	}
	s.mcp.AddResource(&sdk.Resource{URI: uri, Name: "canvas", Title: "Canvas", Description: "The page in which a chat shows a canvas.", MIMEType: appsType, Meta: meta}, read)
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "ui://ahp-canvas/{version}.html", Name: "canvas", Title: "Canvas", Description: "The same page under the addresses of earlier versions.", MIMEType: appsType, Meta: meta}, read)
	for _, t := range appTools {
		s.add(t.describe(s.opts), func(ctx context.Context, raw ahp.Value) (*sdk.CallToolResult, error) {
			a, err := t.run(s, ctx, raw)
			if err != nil {
				return s.failure(ctx, t.name, err), nil
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.text}}, StructuredContent: json.RawMessage(ahp.MustMarshal(a.value))}, nil
		})
	}
}

// appTool is a tool for the page of a chat.
type appTool struct {
	name, title, description, schema string
	readOnly                         bool
	run                              func(s *Server, ctx context.Context, raw ahp.Value) (answer, error)
}

const viewProperties = `"channel":{"type":"string"},"ticket":{"type":"string"},"view":{"type":"string","pattern":"^[0-9a-f]{32}$"}`

var appTools = []appTool{
	{
		name: ToolViewRead, title: "Read a canvas", readOnly: true, run: (*Server).viewRead,
		description: "For the page that shows a canvas in a chat: read the document. It needs a ticket, which models do not have.",
		schema:      `{"type":"object","properties":{` + viewProperties + `,"path":{"type":"string"},"part":{"type":"integer"},"tag":{"type":"string"},"link":{"type":"boolean"},"file":{"type":"boolean"}},"required":["channel","ticket","view"],"additionalProperties":false}`,
	},
	{
		name: ToolViewSync, title: "Follow a canvas", run: (*Server).viewSync,
		description: "For the page that shows a canvas in a chat: exchange messages with the canvas. It needs a ticket, which models do not have.",
		schema: `{"type":"object","properties":{` + viewProperties + `,"after":{"type":"integer"},"wait":{"type":"number"},"bye":{"type":"boolean"},` +
			`"say":{"type":"array","items":{"type":"object","properties":{"seq":{"type":"integer"},"payload":{}},"required":["seq","payload"]}}},"required":["channel","ticket","view","after"],"additionalProperties":false}`,
	},
}

func (t appTool) describe(Options) *sdk.Tool {
	return &sdk.Tool{
		Meta: sdk.Meta{metaUI: map[string]any{"visibility": []any{"app"}}},
		Name: t.name, Title: t.title, Description: t.description, InputSchema: json.RawMessage(t.schema),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: t.readOnly, DestructiveHint: new(false), OpenWorldHint: new(false)},
	}
}

// appOnly reports whether a tool is for pages of chats only.
func appOnly(t *sdk.Tool) bool {
	ui, _ := t.Meta[metaUI].(map[string]any)
	visibility, ok := ui["visibility"].([]any)
	return ok && !slices.Contains(visibility, any("model"))
}

// listForClient removes the tools for pages from the lists of clients that do not declare MCP
// Apps, unless Options.List says otherwise.
func (s *Server) listForClient(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*sdk.ListToolsResult)
		if err != nil || !ok || list == nil || s.opts.List == AppsAlways {
			return result, err
		}
		if r, ok := req.(*sdk.ListToolsRequest); ok && declaresApps(r.ClientCapabilities()) {
			return result, err
		}
		list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), appOnly)
		return list, nil
	}
}

func declaresApps(c *sdk.ClientCapabilities) bool {
	if c == nil {
		return false
	}
	settings, _ := c.Extensions[appsExtension].(map[string]any)
	types, _ := settings["mimeTypes"].([]any)
	return slices.Contains(types, any(appsType))
}

type viewReadArgs struct {
	appview.ReadArgs
	Unknown ahp.Value `json:",embed"`
}

func (s *Server) viewRead(ctx context.Context, raw ahp.Value) (answer, error) {
	var args viewReadArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	a, err := s.opts.Apps.Read(ctx, args.ReadArgs)
	return answer{text: "The document of the canvas, for the page that shows it.", value: a}, err
}

type viewSyncArgs struct {
	appview.SyncArgs
	Unknown ahp.Value `json:",embed"`
}

func (s *Server) viewSync(ctx context.Context, raw ahp.Value) (answer, error) {
	var args viewSyncArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)() // it returns what it has
	a, err := s.opts.Apps.Sync(ctx, args.SyncArgs)
	return answer{text: "Messages of the canvas, for the page that shows it.", value: a}, err
}
