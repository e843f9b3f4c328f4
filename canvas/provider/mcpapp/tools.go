package mcpapp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Limits of declarations (canvas/PROTOCOL.md section 8). The actions of all canvases of a
// server are limited together, because agents read all of them.
const (
	maxCanvases    = 64
	maxActions     = 64
	maxAllActions  = 256
	maxDescription = 16 << 10
	maxTitle       = 200
)

// The actions that each canvas of a server has.
const (
	actionResult    = "app_result"
	actionListTools = "app_list_tools"
	actionCallTool  = "app_call_tool"
)

var ownActions = []canvas.Action{
	{Name: actionResult, Description: "Returns the arguments and the result of the tool call that this canvas shows."},
	{Name: actionListTools, Description: "Lists the tools that the page itself offers while it is open. They are texts of the app, not of the person or the host."},
	{Name: actionCallTool, Description: "Calls a tool of the page, from " + actionListTools + ".", InputSchema: ahp.Value(`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"]}`)},
}

// ui is what a tool says about its UI, in _meta.ui.
type ui struct {
	uri   string // "" without a UI
	model bool   // agents may call it
	app   bool   // Views may call it
}

// uiOf reads _meta.ui.resourceUri, or else the flat key, and _meta.ui.visibility; absent
// visibility is both.
func uiOf(t *sdk.Tool) ui {
	u := ui{model: true, app: true}
	nested, _ := t.Meta["ui"].(map[string]any)
	u.uri, _ = nested["resourceUri"].(string)
	if u.uri == "" {
		u.uri, _ = t.Meta["ui/resourceUri"].(string)
	}
	if !strings.HasPrefix(u.uri, "ui://") {
		u.uri = ""
	}
	if list, ok := nested["visibility"].([]any); ok {
		u.model, u.app = slices.Contains(list, any("model")), slices.Contains(list, any("app"))
	}
	return u
}

// titleOf returns a tool's name for people.
func titleOf(t *sdk.Tool) string {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	return cmp.Or(ahp.Line(title, maxTitle), t.Name)
}

// panelID is the id of the server panel: the server's name, unless a tool has it.
func (g *Running) panelID(tools []*sdk.Tool) string {
	if slices.ContainsFunc(tools, func(t *sdk.Tool) bool { return t.Name == g.server.Name }) {
		return g.server.Name + ".server"
	}
	return g.server.Name
}

// placeholder is what a server declares before it has listed its tools. Opening it returns
// the reason.
func (g *Running) placeholder() canvas.Declaration {
	return canvas.Declaration{
		CanvasID: g.server.Name, DisplayName: g.server.Name,
		Description: "This MCP server has not started, so its canvases are not known yet. Open this canvas to see the reason.",
	}
}

// declarations returns the canvases for tools: one for each tool with a UI that agents may
// call, and the panel. Tools without a UI are actions of all of them. notes says what is
// left out.
func (g *Running) declarations(tools []*sdk.Tool) (set []canvas.Declaration, notes []string) {
	leave := func(what, name, why string) {
		notes = append(notes, fmt.Sprintf("%s %q is left out: %s", what, ahp.Line(name, 80), why))
	}
	var actions []canvas.Action
	panel := canvas.Declaration{
		CanvasID: g.panelID(tools), DisplayName: g.server.Name + " (server)",
		Description: fmt.Sprintf("The MCP server %q: its state, its last calls, and its tools that have no page, as actions.", g.server.Name),
	}
	for _, t := range tools {
		u := uiOf(t)
		if !u.model {
			continue
		}
		what := "action"
		if u.uri != "" {
			what = "canvas"
		}
		schema, why := g.declarable(t, what)
		if why == "" && schema == nil && t.InputSchema != nil {
			leave("the input schema of", t.Name, fmt.Sprintf("want an object of at most %d bytes", maxSchema))
		}
		switch {
		case why != "":
			leave(what, t.Name, why)
		case u.uri != "" && len(set) >= maxCanvases-1:
			leave(what, t.Name, fmt.Sprintf("%d canvases are the limit", maxCanvases))
		case u.uri != "":
			set = append(set, canvas.Declaration{CanvasID: t.Name, DisplayName: titleOf(t), Description: description(t), InputSchema: schema})
		case len(actions) >= maxActions-len(ownActions):
			leave(what, t.Name, fmt.Sprintf("%d actions are the limit", maxActions-len(ownActions)))
		default:
			actions = append(actions, canvas.Action{Name: t.Name, Description: description(t), InputSchema: schema})
		}
	}
	panel.Actions = actions
	if len(set)*len(actions) > maxAllActions {
		actions = nil
	}
	for i := range set {
		set[i].Actions = append(slices.Clone(ownActions), actions...)
	}
	return append(set, panel), notes
}

// declarable returns a tool's schema, and why the tool cannot be declared, or "". A schema
// that is left out is judged by the server.
func (g *Running) declarable(t *sdk.Tool, what string) (schema ahp.Value, why string) {
	switch {
	case t.Name == "" || len(t.Name) > canvas.MaxName || !utf8.ValidString(t.Name):
		return nil, fmt.Sprintf("want a name of 1 to %d bytes", canvas.MaxName)
	case what == "action" && strings.HasPrefix(t.Name, "canvas."):
		return nil, `names of actions do not begin with "canvas."`
	case what == "action" && slices.ContainsFunc(ownActions, func(a canvas.Action) bool { return a.Name == t.Name }):
		return nil, "the host has an action of that name"
	}
	return schemaOf(t), ""
}

// maxSchema is the limit of a schema (canvas/PROTOCOL.md section 8).
const maxSchema = 64 << 10

// schemaOf returns a tool's schema, or nil if it cannot be declared: then the
// server judges the input.
func schemaOf(t *sdk.Tool) ahp.Value {
	raw, err := json.Marshal(t.InputSchema)
	var object map[string]ahp.Value
	if err != nil || len(raw) > maxSchema || t.InputSchema == nil || ahp.Unmarshal(raw, &object) != nil {
		return nil
	}
	return raw
}

// description returns a tool's description within its limit.
func description(t *sdk.Tool) string {
	text := strings.ToValidUTF8(t.Description, "")
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription-4], "") + "…"
	}
	return text
}

// withDefaults fills the top-level defaults of a tool's schema into the arguments: servers
// fill them in for themselves only, and pages that read them stay blank.
func withDefaults(t *sdk.Tool, input ahp.Value) ahp.Value {
	args := map[string]ahp.Value{}
	if input != nil && ahp.Unmarshal(input, &args) != nil {
		return input
	}
	schema, _ := t.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, _ := p.(map[string]any)
		if def, ok := property["default"]; ok && args[name] == nil {
			if raw, err := ahp.Marshal(def); err == nil {
				args[name] = raw
			}
		}
	}
	return ahp.MustMarshal(args)
}

// oneLine returns a text as one line of at most n bytes, about.
func oneLine(text string, n int) string { return ahp.Line(text, n) }
