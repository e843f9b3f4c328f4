package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// metadata is a message's metadata.
func metadata(t a2ui.Turn) map[string]ahp.Value {
	m := map[string]ahp.Value{a2ui.MetaCapabilities: t.Capabilities}
	if t.Capabilities == nil {
		m[a2ui.MetaCapabilities] = a2ui.Capabilities()
	}
	if t.Model != nil {
		m[a2ui.MetaDataModel] = t.Model
	}
	return m
}

// dataPart is a part with A2UI messages.
type dataPart struct {
	Kind      string            `json:"kind,omitzero"`      // of 0.3
	MediaType string            `json:"mediaType,omitzero"` // of 1.0
	Metadata  map[string]string `json:"metadata"`
	Data      any               `json:"data"`
}

// textPart is a part with text.
type textPart struct {
	Kind string `json:"kind,omitzero"`
	Text string `json:"text"`
}

// parts returns a turn's parts: in A2A 0.3 one for each message, because data is an
// object there; in 1.0 one list for messages of one version.
func parts(t a2ui.Turn, v1 bool) []any {
	list := []any{}
	if t.Text != "" {
		p := textPart{Kind: "text", Text: t.Text}
		if v1 {
			p.Kind = ""
		}
		list = append(list, p)
	}
	for at := 0; at < len(t.Messages); {
		mimeType := mimeOf(t.Messages[at])
		p := dataPart{Kind: "data", Metadata: map[string]string{"mimeType": mimeType}, Data: t.Messages[at]}
		end := at + 1
		if v1 {
			for end < len(t.Messages) && mimeOf(t.Messages[end]) == mimeType {
				end++
			}
			p.Kind, p.MediaType, p.Data = "", mimeType, t.Messages[at:end]
		}
		list = append(list, p)
		at = end
	}
	return list
}

// mimeOf returns the MIME type that belongs to a message's version.
func mimeOf(message ahp.Value) string {
	var m struct {
		Version string `json:"version,omitzero"`
	}
	_ = ahp.Unmarshal(message, &m)
	return a2ui.MIMEType(m.Version)
}

// request returns the JSON-RPC request of a turn.
func (e *endpoint) request(id, messageID string, t a2ui.Turn) ahp.Value {
	message := map[string]any{"messageId": messageID, "role": "user", "parts": parts(t, e.v1), "metadata": metadata(t)}
	method := map[bool]string{false: "message/send", true: "message/stream"}[e.streaming]
	params := map[string]any{"message": message}
	if e.v1 {
		message["role"] = "ROLE_USER"
		method = map[bool]string{false: "SendMessage", true: "SendStreamingMessage"}[e.streaming]
		if e.tenant != "" {
			params["tenant"] = e.tenant
		}
	} else {
		message["kind"] = "message"
		params["configuration"] = map[string]any{"blocking": true}
	}
	if t.ContextID != "" {
		message["contextId"] = t.ContextID
	}
	if t.TaskID != "" {
		message["taskId"] = t.TaskID
	}
	return ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// sendA2A sends a turn to an A2A agent and reads the answer.
func (a *Agent) sendA2A(ctx context.Context, t a2ui.Turn, on func(a2ui.Reply)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(a.opts.Limits.Silence, func() {
		cancel(a2ui.Errorf(a2ui.CodeAgentSilent, "the agent %s sent nothing for %v", a.Name(), a.opts.Limits.Silence))
	})
	defer silence.Stop()
	e, err := a.endpoint(ctx)
	if err != nil {
		return err
	}
	id := a.opts.NewID()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(e.request(id, a.opts.NewID(), t)))
	if err != nil {
		return a.unavailable("its card has no valid URL")
	}
	e.setHeaders(req.Header)
	resp, err := a.do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return a.unavailable("it answered with status %d", resp.StatusCode)
	}
	r := &reader{id: id, on: on}
	body := &countedBody{io.LimitReader(resp.Body, a.opts.Limits.Turn+1), func() { silence.Reset(a.opts.Limits.Silence) }, 0}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		return a.readEvents(ctx, r, body)
	}
	return a.readAnswer(ctx, r, body)
}

func (e *endpoint) setHeaders(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	if e.streaming {
		h.Set("Accept", "text/event-stream")
	}
	h.Set("X-A2A-Extensions", e.extension)
	if e.v1 {
		h.Set("A2A-Version", "1.0")
		h.Set("A2A-Extensions", e.extension)
	}
}

// countedBody counts what is read, and reports that something arrived.
type countedBody struct {
	io.Reader
	arrived func()
	n       int64
}

func (h *countedBody) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if n > 0 {
		h.n += int64(n)
		h.arrived()
	}
	return n, err
}

// readAnswer reads an answer that is no stream.
func (a *Agent) readAnswer(ctx context.Context, r *reader, body *countedBody) error {
	raw, err := io.ReadAll(body)
	switch {
	case ctx.Err() != nil || err != nil:
		return a.unreachable(ctx, err)
	case body.n > a.opts.Limits.Turn:
		return a.tooMuch()
	}
	if err := a.take(r, raw); err != nil {
		return err
	}
	if !r.answered {
		return a.unavailable("it answered another request")
	}
	return nil
}

// readEvents reads a stream. If it breaks off, what has arrived completely counts.
func (a *Agent) readEvents(ctx context.Context, r *reader, body *countedBody) error {
	events := newEvents(body, a.opts.Limits.Event)
	for {
		raw, err := events.next()
		switch {
		case err == nil:
			if err := a.take(r, raw); err != nil {
				return err
			}
			continue
		case ctx.Err() != nil:
			return a.unreachable(ctx, err)
		case errors.Is(err, errEventTooLarge) || body.n > a.opts.Limits.Turn:
			return a.tooMuch()
		case err == io.EOF && r.ended():
			return nil
		}
		r.on(a2ui.Reply{State: "interrupted"})
		return nil
	}
}

func (a *Agent) tooMuch() error {
	return a2ui.Errorf(a2ui.CodeTooLarge, "the agent %s sent more than an event of %d bytes, or a turn of %d bytes, can have", a.Name(), a.opts.Limits.Event, a.opts.Limits.Turn)
}
