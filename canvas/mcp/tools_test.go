package mcp_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// A foreign client does what an agent does, on each transport.
func TestDrive(t *testing.T) {
	for name, connect := range ways {
		t.Run(name, func(t *testing.T) {
			service := newFake()
			c := connect(t, mcp.New(service, mcp.Options{Link: func(s string) string { return "http://page/#" + s }}))
			steps := []struct{ tool, args, want string }{
				{mcp.ToolList, ``, `{"canvases":[{"canvasId":"counter","extensionId":"acme","displayName":"Counter","description":"Counts.","actions":[{"name":"add"}]}]}`},
				{mcp.ToolList, `{"describe":"counter"}`, `{"canvases":[{"extensionId":"acme","canvasId":"counter","displayName":"Counter","description":"Counts.","inputSchema":{"type":"object","maxProperties":9007199254740993},"actions":[{"name":"add"}],"source":{"kind":"server"}}]}`},
				{mcp.ToolListOpen, `{}`, `{"openCanvases":[]}`},
				{mcp.ToolOpen, `{"canvasId":"counter","instanceId":"c1","input":{"from":9007199254740993}}`,
					`{"instanceId":"c1","channel":"ahp-canvas:/1","canvasId":"counter","extensionId":"acme","availability":"ready","title":"Count","cursor":0,"link":"http://page/#ahp-session:/default"}`},
				{mcp.ToolListOpen, `{"session":null}`, `{"openCanvases":[{"instanceId":"c1","channel":"ahp-canvas:/1","canvasId":"counter","extensionId":"acme","availability":"ready"}],"link":"http://page/#ahp-session:/default"}`},
				{mcp.ToolInvoke, `{"instanceId":"c1","actionName":"add","input":{"by":9007199254740993,"exact":0.10000000000000000001}}`, `{"value":{"by":9007199254740993,"exact":0.10000000000000000001}}`},
				{mcp.ToolInvoke, `{"instanceId":"c1","actionName":"add","input":null}`, `{}`},
				{mcp.ToolClose, `{"instanceId":"c1"}`, `{"instanceId":"c1","closed":true}`},
				{mcp.ToolListOpen, ``, `{"openCanvases":[]}`},
			}
			for _, step := range steps {
				r := call(t, c, step.tool, step.args)
				if r.IsError {
					t.Fatalf("%s: %s", step.tool, structured(t, r))
				}
				if diff := cmp.Diff(step.want, structured(t, r)); diff != "" {
					t.Errorf("%s %s: %s", step.tool, step.args, diff)
				}
				if service.session != defaultSession {
					t.Errorf("%s went to session %q", step.tool, service.session)
				}
			}
		})
	}
}

func TestArgumentsReachTheService(t *testing.T) {
	service := newFake()
	c := ways["in memory"](t, mcp.New(service, mcp.Options{Session: "ahp-session:/mine"}))
	call(t, c, mcp.ToolOpen, `{"canvasId":"counter","input":{"n":12345678901234567890.10,"s":"\u003c"}}`)
	if got, want := string(service.input), `{"n":12345678901234567890.10,"s":"\u003c"}`; got != want {
		t.Errorf("input %s, want %s", got, want)
	}
	if service.session != "ahp-session:/mine" {
		t.Errorf("session %q", service.session)
	}
	call(t, c, mcp.ToolOpen, `{"canvasId":"counter","session":"ahp-session:/other","input":null,"extensionId":null}`)
	if service.session != "ahp-session:/other" || service.input != nil {
		t.Errorf("session %q, input %s", service.session, service.input)
	}
}

// Each error code, including a provider's own, reaches the client unchanged, with a
// hint for the model.
func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		err        error
		want, text string
	}{
		{&canvas.Error{Code: canvas.CodeNotFound, Message: "m"}, `{"code":"canvas_not_found","message":"m"}`, "list_canvas_capabilities"},
		{&canvas.Error{Code: canvas.CodeInstanceNotFound, Message: "m"}, `{"code":"canvas_instance_not_found","message":"m"}`, "list_open_canvases"},
		{&canvas.Error{Code: canvas.CodeSessionNotFound, Message: "m"}, `{"code":"canvas_session_not_found","message":"m"}`, "default session"},
		{&canvas.Error{Code: canvas.CodeAmbiguous, Message: "m", Candidates: []string{"a", "client:b"}}, `{"code":"canvas_ambiguous","message":"m","candidates":["a","client:b"]}`, "one of: a, client:b"},
		{&canvas.Error{Code: canvas.CodeAlreadyOpen, Message: "m"}, `{"code":"canvas_already_open","message":"m"}`, "another instanceId"},
		{&canvas.Error{Code: canvas.CodeInputInvalid, Message: "m", Path: "/input/n", Rule: "minimum"}, `{"code":"canvas_input_invalid","message":"m","path":"/input/n","rule":"minimum"}`, "Correct /input/n and call again; see the schemas in the result of list_canvas_capabilities"},
		{&canvas.Error{Code: canvas.CodeNoHandler, Message: "m"}, `{"code":"canvas_action_no_handler","message":"m"}`, "actions of this canvas"},
		{&canvas.Error{Code: canvas.CodeProviderUnavailable, Message: "m"}, `{"code":"canvas_provider_unavailable","message":"m"}`, "is not running"},
		{&canvas.Error{Code: canvas.CodeHandlerError, Message: "m"}, `{"code":"canvas_handler_error","message":"m"}`, "canvas_handler_error: m"},
		{&canvas.Error{Code: canvas.CodeTimeout, Message: "m"}, `{"code":"canvas_timeout","message":"m"}`, "before you repeat"},
		{&canvas.Error{Code: canvas.CodeLimitExceeded, Message: "m"}, `{"code":"canvas_limit_exceeded","message":"m"}`, "If too many canvases are open, call close_canvas"},
		{&canvas.Error{Code: canvas.CodeReservedActionName, Message: "m"}, `{"code":"canvas_reserved_action_name","message":"m"}`, "m"},
		{&canvas.Error{Code: "acme_out_of_paper", Message: "m"}, `{"code":"acme_out_of_paper","message":"m"}`, "acme_out_of_paper: m"},
		{&canvas.Error{Code: "acme_jam", Message: "m", Details: ahp.Value(`{"tray":2}`)}, `{"code":"acme_jam","message":"m","details":{"tray":2}}`, "m"},
		{&canvas.Error{Code: "acme_jam", Message: "m", Details: ahp.Value(`["no object"]`)}, `{"code":"acme_jam","message":"m"}`, "m"},
		{&canvas.Error{Code: "acme\xff", Message: "no \xfe file"}, "{\"code\":\"acme\uFFFD\",\"message\":\"no \uFFFD file\"}", "no \uFFFD file"},
		{errors.New("the secret detail"), `{"code":"internal_error","message":"the host failed; its log has the details"}`, "internal_error"},
	} {
		c := ways["in memory"](t, mcp.New(&fake{fail: tc.err}, mcp.Options{}))
		for tool, args := range map[string]string{
			mcp.ToolList: `{}`, mcp.ToolListOpen: `{}`, mcp.ToolOpen: `{"canvasId":"x"}`,
			mcp.ToolInvoke: `{"instanceId":"x","actionName":"y"}`, mcp.ToolClose: `{"instanceId":"x"}`,
			mcp.ToolWait: `{}`,
		} {
			r := call(t, c, tool, args)
			if diff := cmp.Diff(tc.want, structured(t, r)); diff != "" || !r.IsError {
				t.Errorf("%s: isError %v: %s", tool, r.IsError, diff)
			}
			if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, tc.text) || strings.Contains(text, "secret") {
				t.Errorf("%s: text %q, want something with %q", tool, text, tc.text)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	c := ways["in memory"](t, mcp.New(newFake(), mcp.Options{}))
	for _, tc := range []struct{ tool, args, path, rule string }{
		{mcp.ToolOpen, `{}`, "/canvasId", "required"},
		{mcp.ToolOpen, `{"canvasId":null}`, "/canvasId", "required"},
		{mcp.ToolOpen, `{"canvasId":"x","canvasID":"x"}`, "/canvasID", "additionalProperties"},
		{mcp.ToolOpen, `{"canvasId":"x","a/b":1,"c":2}`, "/a~1b", "additionalProperties"},
		{mcp.ToolOpen, `{"canvasId":7}`, "/canvasId", "type"},
		{mcp.ToolOpen, `{"canvasId":"x","canvasId":"y"}`, "", ""},
		{mcp.ToolInvoke, `{"instanceId":"x"}`, "/actionName", "required"},
		{mcp.ToolInvoke, `{"actionName":"x"}`, "/instanceId", "required"},
		{mcp.ToolClose, `{}`, "/instanceId", "required"},
		{mcp.ToolList, `{"verbose":true}`, "/verbose", "additionalProperties"},
		{mcp.ToolListOpen, `{"session":{}}`, "/session", "type"},
		{mcp.ToolWait, `{"after":-1}`, "/after", "minimum"},
		{mcp.ToolWait, `{"after":1.5}`, "/after", "type"},
		{mcp.ToolWait, `{"after":1e300}`, "/after", "type"},
		{mcp.ToolWait, `{"timeout":-1}`, "/timeout", "minimum"},
		{mcp.ToolWait, `{"timeout":"1"}`, "/timeout", "type"},
		{mcp.ToolWait, `{"instanceId":"x"}`, "/instanceId", "additionalProperties"},
	} {
		r := call(t, c, tc.tool, tc.args)
		e := mcp.Failure(r)
		if e == nil || e.Code != canvas.CodeInputInvalid || e.Path != tc.path || e.Rule != tc.rule {
			t.Errorf("%s %s: %+v", tc.tool, tc.args, e)
		}
		// The capabilities do not describe the tools' own arguments.
		if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, "schema of this tool") || strings.Contains(text, mcp.ToolList) {
			t.Errorf("%s %s: the model reads %q", tc.tool, tc.args, text)
		}
	}
}

// The schemas agree with the decoder: closed objects with exactly the decoded members.
func TestDescriptions(t *testing.T) {
	c := ways["in memory"](t, mcp.New(newFake(), mcp.Options{}))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		schema := tool.InputSchema.(map[string]any)
		if schema["additionalProperties"] != false || tool.Description == "" || tool.Annotations == nil {
			t.Errorf("%s: %v", tool.Name, schema)
		}
		args := map[string]any{}
		for name, p := range schema["properties"].(map[string]any) {
			args[name] = map[string]any{"string": "x", "object": map[string]any{}, "integer": 1, "number": 0.5}[p.(map[string]any)["type"].(string)]
		}
		if e := mcp.Failure(call(t, c, tool.Name, string(ahp.MustMarshal(args)))); e != nil && e.Code == canvas.CodeInputInvalid {
			t.Errorf("%s refuses an argument that it describes: %v", tool.Name, e)
		}
	}
	want := []string{mcp.ToolClose, mcp.ToolInvoke, mcp.ToolList, mcp.ToolListOpen, mcp.ToolOpen, mcp.ToolWait}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool", Arguments: json.RawMessage(`{}`)}); err == nil {
		t.Error("a tool that is not there answered")
	}
}

// The hints are promises to clients that call some tools without asking: an action can
// remove something, each panel without a name is a new one, and an extension or web app
// can reach other systems.
func TestHints(t *testing.T) {
	type hints struct{ readOnly, destructive, idempotent, openWorld bool }
	want := map[string]hints{
		mcp.ToolList:     {readOnly: true, idempotent: true},
		mcp.ToolListOpen: {readOnly: true, idempotent: true},
		mcp.ToolWait:     {readOnly: true, idempotent: true},
		mcp.ToolOpen:     {openWorld: true},
		mcp.ToolInvoke:   {destructive: true, openWorld: true},
		mcp.ToolClose:    {destructive: true},
	}
	c := ways["in memory"](t, mcp.New(newFake(), mcp.Options{}))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]hints{}
	for _, tool := range list.Tools {
		a := tool.Annotations
		have[tool.Name] = hints{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint}
	}
	if !maps.Equal(have, want) {
		t.Errorf("have %+v\nwant %+v", have, want)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"canvasId":"counter","input":{"n":1e400},"x":[]}`))
	f.Add([]byte(`{"canvasId":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, err := range mcp.DecodeAll(data) {
			if err != nil && err.Code != canvas.CodeInputInvalid {
				t.Fatalf("%s: %v", data, err)
			}
		}
	})
}
