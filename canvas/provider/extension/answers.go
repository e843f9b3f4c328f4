package extension

import (
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// protocolVersion is the version of the extensions' wire that is spoken here.
const protocolVersion = 3

// handler answers what an extension asks. It runs on jsonrpc2's reader, one
// request after the other, and waits for nothing.
type handler struct{ p *process }

// Handle answers one request; notifications mean nothing here.
func (h handler) Handle(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Notif {
		return
	}
	var params ahp.Value
	if req.Params != nil {
		params = ahp.Value(*req.Params)
	}
	result, err := h.p.answer(req.Method, params)
	if err != nil { // a connection that is closed has nobody to tell
		_ = c.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: int64(err.Code), Message: err.Message})
		return
	}
	_ = c.Reply(ctx, req.ID, json.RawMessage(ahp.MustMarshal(result)))
	if req.Method == methodResume {
		h.p.joins() // it is asked for nothing before it has its answer
	}
}

const methodResume = "session.resume"

func (p *process) answer(method string, params ahp.Value) (any, *ahp.Error) {
	switch method {
	case "connect":
		return connected{OK: true, ProtocolVersion: protocolVersion, Version: p.worker.ext.runner.opts.Version}, nil
	case methodResume:
		return answerTo(params, p.resume)
	case "session.send":
		return answerTo(params, p.send)
	case "session.log":
		return answerTo(params, p.log)
	}
	return nil, ahp.Errorf(ahp.CodeMethodNotFound, "this host shows canvases and runs no agent: it does not serve %q", method)
}

// answerTo decodes the parameters of a request and answers it.
func answerTo[P, R any](params ahp.Value, fn func(P) (R, error)) (any, *ahp.Error) {
	var in P
	if params == nil {
		params = ahp.Value("{}")
	}
	if err := ahp.Unmarshal(params, &in); err != nil {
		return nil, ahp.Errorf(ahp.CodeInvalidParams, "%v", err)
	}
	out, err := fn(in)
	if err != nil {
		return nil, ahp.Errorf(ahp.CodeInvalidParams, "%v", err)
	}
	return out, nil
}

// The requests of an extension and their answers, as far as they are read here.
type (
	connected struct {
		OK              bool   `json:"ok"`
		ProtocolVersion int    `json:"protocolVersion"`
		Version         string `json:"version"`
	}
	resumeParams struct {
		SessionID string     `json:"sessionId"`
		Canvases  []declared `json:"canvases,omitzero"`
	}
	declared struct {
		ID          string    `json:"id"`
		DisplayName string    `json:"displayName,omitzero"`
		Description string    `json:"description,omitzero"`
		InputSchema ahp.Value `json:"inputSchema,omitzero"`
		Actions     []action  `json:"actions,omitzero"`
	}
	action struct {
		Name        string    `json:"name"`
		Description string    `json:"description,omitzero"`
		InputSchema ahp.Value `json:"inputSchema,omitzero"`
	}
	resumed struct {
		SessionID     string       `json:"sessionId"`
		WorkspacePath string       `json:"workspacePath"`
		Capabilities  capabilities `json:"capabilities"`
	}
	capabilities struct {
		UI canvasesCapability `json:"ui"`
	}
	sendParams struct {
		SessionID     string    `json:"sessionId"`
		Prompt        string    `json:"prompt"`
		DisplayPrompt string    `json:"displayPrompt,omitzero"`
		Attachments   ahp.Value `json:"attachments,omitzero"`
	}
	sent struct {
		MessageID string `json:"messageId"`
	}
	logParams struct {
		SessionID string `json:"sessionId"`
		Message   string `json:"message"`
		Level     string `json:"level,omitzero"`
	}
	logged struct {
		EventID string `json:"eventId"`
	}
)

// The events that the agent reads.
type (
	promptEvent struct {
		Type          string    `json:"type"`
		ExtensionID   string    `json:"extensionId"`
		Prompt        string    `json:"prompt"`
		DisplayPrompt string    `json:"displayPrompt,omitzero"`
		Attachments   ahp.Value `json:"attachments,omitzero"`
	}
	logEvent struct {
		Type        string `json:"type"`
		ExtensionID string `json:"extensionId"`
		Level       string `json:"level"`
		Message     string `json:"message"`
	}
)

// resume takes what the extension declares. A set that is refused is refused
// whole, and to the extension: it says so in its own words.
func (p *process) resume(in resumeParams) (resumed, error) {
	w := p.worker
	if err := p.joinedAs(in.SessionID); err != nil {
		return resumed{}, err
	}
	if w.declares {
		if err := w.ext.declare(declarations(in.Canvases)); err != nil {
			return resumed{}, err
		}
	}
	return resumed{
		SessionID: w.id, WorkspacePath: w.workspace,
		Capabilities: capabilities{UI: canvasesCapability{Canvases: true}},
	}, nil
}

func declarations(list []declared) []canvas.Declaration {
	set := make([]canvas.Declaration, len(list))
	for i, d := range list {
		set[i] = canvas.Declaration{CanvasID: d.ID, DisplayName: d.DisplayName, Description: d.Description, InputSchema: d.InputSchema}
		if d.DisplayName == "" {
			set[i].DisplayName = d.ID
		}
		for _, a := range d.Actions {
			set[i].Actions = append(set[i].Actions, canvas.Action{Name: a.Name, Description: a.Description, InputSchema: a.InputSchema})
		}
	}
	return set
}

// joinedAs holds the session that a request names against the process's own.
func (p *process) joinedAs(sessionID string) error {
	if sessionID != p.worker.id {
		return ahp.Errorf(ahp.CodeInvalidParams, "this process belongs to session %q", p.worker.id)
	}
	return nil
}

// send tells the agent a prompt.
func (p *process) send(in sendParams) (sent, error) {
	if err := p.joinedAs(in.SessionID); err != nil {
		return sent{}, err
	}
	id := p.worker.ext.runner.opts.NewID()
	return sent{id}, p.raise(promptEvent{"extension.prompt", p.worker.ext.folder.ID, in.Prompt, in.DisplayPrompt, in.Attachments})
}

// log tells the agent a line that is meant for people, too.
func (p *process) log(in logParams) (logged, error) {
	if err := p.joinedAs(in.SessionID); err != nil {
		return logged{}, err
	}
	if in.Level == "" {
		in.Level = "info"
	}
	id := p.worker.ext.runner.opts.NewID()
	return logged{id}, p.raise(logEvent{"extension.log", p.worker.ext.folder.ID, in.Level, in.Message})
}
