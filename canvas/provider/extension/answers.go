package extension

import (
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// protocolVersion is the version of the extension wire protocol that the host speaks.
const protocolVersion = 3

// handler serves an extension's requests. It runs on jsonrpc2's reader, one request
// at a time, and must not block.
type handler struct{ p *process }

// Handle answers one request. It ignores notifications: the wire defines none.
func (h handler) Handle(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Notif {
		return
	}
	var params ahp.Value
	if req.Params != nil {
		params = ahp.Value(*req.Params)
	}
	result, err := h.p.answer(req.Method, params)
	if err != nil { // sending fails only on a closed connection, which needs no answer
		_ = c.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: int64(err.Code), Message: err.Message})
		return
	}
	_ = c.Reply(ctx, req.ID, json.RawMessage(ahp.MustMarshal(result)))
	if req.Method == methodResume {
		h.p.markDeclared() // only now: the extension expects no request before this response
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
	case "session.metadata.snapshot":
		return answerTo(params, p.snapshot)
	case "session.usage.getMetrics":
		return answerTo(params, p.metrics)
	}
	return nil, ahp.Errorf(ahp.CodeMethodNotFound, "method %q is not supported: this host shows canvases and runs no agent", method)
}

// answerTo decodes the parameters of a request and passes them to fn.
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

// The parameters and results of an extension's requests, limited to the fields that
// the host uses.
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

// The results of what an extension may ask of its session. A host without an agent knows
// no usage: these members are null, so that an extension shows that they are not known.
type (
	sessionParams struct {
		SessionID string `json:"sessionId"`
	}
	metadata struct {
		SessionID        string `json:"sessionId"`
		WorkingDirectory string `json:"workingDirectory"`
		WorkspacePath    string `json:"workspacePath"`
	}
	usage struct {
		TotalPremiumRequestCost *float64            `json:"totalPremiumRequestCost"`
		TotalUserRequests       *int                `json:"totalUserRequests"`
		TotalAPIDurationMs      *int                `json:"totalApiDurationMs"`
		SessionStartTime        *string             `json:"sessionStartTime"`
		CodeChanges             codeChanges         `json:"codeChanges"`
		ModelMetrics            map[string]struct{} `json:"modelMetrics"` // empty: no model is known
		CurrentModel            *string             `json:"currentModel"`
		LastCallInputTokens     *int                `json:"lastCallInputTokens"`
		LastCallOutputTokens    *int                `json:"lastCallOutputTokens"`
	}
	codeChanges struct {
		LinesAdded         *int     `json:"linesAdded"`
		LinesRemoved       *int     `json:"linesRemoved"`
		FilesModifiedCount *int     `json:"filesModifiedCount"`
		FilesModified      []string `json:"filesModified"`
	}
)

// The events that the agent receives.
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

// resume accepts the extension's declarations. If the host rejects the set, the
// extension receives the error and no declaration changes.
func (p *process) resume(in resumeParams) (resumed, error) {
	w := p.worker
	if err := p.checkSession(in.SessionID); err != nil {
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

// checkSession returns an error unless a request names the process's session.
func (p *process) checkSession(sessionID string) error {
	if sessionID != p.worker.id {
		return ahp.Errorf(ahp.CodeInvalidParams, "this process belongs to session %q, not to %q", p.worker.id, sessionID)
	}
	return nil
}

// send publishes a prompt as an event for the agent.
func (p *process) send(in sendParams) (sent, error) {
	if err := p.checkSession(in.SessionID); err != nil {
		return sent{}, err
	}
	id := p.worker.ext.runner.opts.NewID()
	return sent{id}, p.raise(promptEvent{"extension.prompt", p.worker.ext.folder.ID, in.Prompt, in.DisplayPrompt, in.Attachments})
}

// log publishes a log line as an event for the agent.
func (p *process) log(in logParams) (logged, error) {
	if err := p.checkSession(in.SessionID); err != nil {
		return logged{}, err
	}
	if in.Level == "" {
		in.Level = "info"
	}
	id := p.worker.ext.runner.opts.NewID()
	return logged{id}, p.raise(logEvent{"extension.log", p.worker.ext.folder.ID, in.Level, in.Message})
}

// snapshot returns what is known of the session.
func (p *process) snapshot(in sessionParams) (metadata, error) {
	w := p.worker
	return metadata{w.id, w.ext.runner.opts.WorkingDirectory, w.workspace}, p.checkSession(in.SessionID)
}

// metrics returns the session's usage, of which nothing is known.
func (p *process) metrics(in sessionParams) (usage, error) {
	return usage{CodeChanges: codeChanges{FilesModified: []string{}}, ModelMetrics: map[string]struct{}{}}, p.checkSession(in.SessionID)
}
