package remote

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// reader turns the answers to one request into replies.
type reader struct {
	id       string
	on       func(a2ui.Reply)
	answered bool
	message  bool   // the answer is a message, which has no state
	state    string // of the task
}

// ended reports whether nothing more is expected.
func (r *reader) ended() bool {
	return r.message || r.answered && r.state != "" && r.state != "submitted" && r.state != "working"
}

// response is a JSON-RPC response.
type response struct {
	ID     ahp.Value `json:"id,omitzero"`
	Result ahp.Value `json:"result,omitzero"`
	Error  *struct {
		Code ahp.Value `json:"code,omitzero"`
	} `json:"error,omitzero"`
}

// take reads a response. One with another id is dropped.
func (a *Agent) take(r *reader, raw []byte) error {
	var resp response
	if err := ahp.Unmarshal(raw, &resp); err != nil {
		return a.unavailable("its answer is not valid JSON-RPC")
	}
	if !ahp.Equal(resp.ID, ahp.MustMarshal(r.id)) {
		return nil
	}
	r.answered = true
	if resp.Error != nil {
		var code int64
		_ = ahp.Unmarshal(resp.Error.Code, &code)
		return a.unavailable("it answered with error %d", code)
	}
	var result result
	if resp.Result == nil || ahp.Unmarshal(resp.Result, &result) != nil {
		return a.unavailable("its answer is not valid A2A")
	}
	r.result(result)
	return nil
}

// result is what a response can have. In A2A 0.3 the object says its kind, in 1.0 a
// member names it.
type result struct {
	Kind      string      `json:"kind,omitzero"`
	ID        string      `json:"id,omitzero"`
	TaskID    string      `json:"taskId,omitzero"`
	ContextID string      `json:"contextId,omitzero"`
	Parts     []ahp.Value `json:"parts,omitzero"`     // of a message
	Status    status      `json:"status,omitzero"`    // of a task or an update
	Artifacts []arti      `json:"artifacts,omitzero"` // of a task
	Artifact  arti        `json:"artifact,omitzero"`  // of an update

	Task           *result `json:"task,omitzero"`
	Message        *result `json:"message,omitzero"`
	StatusUpdate   *result `json:"statusUpdate,omitzero"`
	ArtifactUpdate *result `json:"artifactUpdate,omitzero"`
}

type arti struct {
	Parts []ahp.Value `json:"parts,omitzero"`
}

type status struct {
	State   string `json:"state,omitzero"`
	Message *struct {
		Parts []ahp.Value `json:"parts,omitzero"`
	} `json:"message,omitzero"`
}

// part is a part of a message or an artifact in either version.
type part struct {
	Text      *string   `json:"text,omitzero"`
	Data      ahp.Value `json:"data,omitzero"`
	MediaType string    `json:"mediaType,omitzero"`
	Metadata  ahp.Value `json:"metadata,omitzero"`
}

func (r *reader) result(m result) {
	switch {
	case m.Message != nil:
		r.said(*m.Message)
	case m.Task != nil:
		r.task(*m.Task, m.Task.ID)
	case m.StatusUpdate != nil:
		r.task(*m.StatusUpdate, m.StatusUpdate.TaskID)
	case m.ArtifactUpdate != nil:
		r.task(*m.ArtifactUpdate, m.ArtifactUpdate.TaskID)
	case m.Kind == "message":
		r.said(m)
	case m.Kind == "task":
		r.task(m, m.ID)
	case m.Kind == "status-update", m.Kind == "artifact-update":
		r.task(m, m.TaskID)
	}
}

// said reads a message, which is the whole answer.
func (r *reader) said(m result) {
	r.message = true
	reply := a2ui.Reply{ContextID: m.ContextID, TaskID: m.TaskID, State: "completed"}
	if m.TaskID != "" {
		reply.State = "" // the task has its own
	}
	addParts(&reply, m.Parts)
	r.on(reply)
}

// task reads a task or an update of one.
func (r *reader) task(m result, id string) {
	reply := a2ui.Reply{ContextID: m.ContextID, TaskID: id, State: stateOf(m.Status.State)}
	if reply.State != "" {
		r.state = reply.State
	}
	for _, a := range append(m.Artifacts, m.Artifact) {
		addParts(&reply, a.Parts)
	}
	if m.Status.Message != nil {
		addParts(&reply, m.Status.Message.Parts)
	}
	r.on(reply)
}

// addParts adds parts to a reply.
func addParts(r *a2ui.Reply, list []ahp.Value) {
	for _, raw := range list {
		var p part
		if ahp.Unmarshal(raw, &p) != nil {
			r.Ignored++
			continue
		}
		switch mimeType := p.mimeType(); {
		case p.Text != nil:
			r.Text = strings.TrimLeft(r.Text+"\n"+*p.Text, "\n")
		case p.Data != nil && a2ui.IsMIMEType(mimeType):
			r.Parts = append(r.Parts, ahp.MustMarshal(dataPart{Kind: "data", Metadata: map[string]string{"mimeType": mimeType}, Data: p.Data}))
		default:
			r.Ignored++
		}
	}
}

// mimeType returns the type of a part's data: A2UI names it in the metadata.
func (p part) mimeType() string {
	var m struct {
		MIMEType string `json:"mimeType,omitzero"`
	}
	if p.Metadata != nil && ahp.Unmarshal(p.Metadata, &m) == nil && m.MIMEType != "" {
		return m.MIMEType
	}
	return p.MediaType
}

// states are the states of tasks that replies have.
var states = map[string]bool{
	"submitted": true, "working": true, "input-required": true, "completed": true, "failed": true,
	"canceled": true, "rejected": true, "auth-required": true,
}

// stateOf returns a state in the spelling of 0.3; 1.0 has "TASK_STATE_INPUT_REQUIRED".
func stateOf(s string) string {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s, "TASK_STATE_")), "_", "-")
	if s == "cancelled" {
		s = "canceled"
	}
	if states[s] {
		return s
	}
	return ""
}
