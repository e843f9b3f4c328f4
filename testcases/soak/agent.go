package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// mcpVersion is the version of MCP in which each call is a separate request.
const mcpVersion = "2026-07-28"

// Open implements agent.
func (p *programs) Open(ctx context.Context, canvasID, instanceID string) error {
	_, err := p.call(ctx, "open_canvas", map[string]any{"canvasId": canvasID, "instanceId": instanceID})
	return err
}

// Invoke implements agent.
func (p *programs) Invoke(ctx context.Context, instanceID, action string, input any) (ahp.Value, error) {
	return p.call(ctx, "invoke_canvas_action", map[string]any{"instanceId": instanceID, "actionName": action, "input": input})
}

// Close implements agent.
func (p *programs) Close(ctx context.Context, instanceID string) error {
	_, err := p.call(ctx, "close_canvas", map[string]any{"instanceId": instanceID})
	return err
}

// call calls a tool, and returns the value of its answer.
func (p *programs) call(ctx context.Context, tool string, arguments any) (ahp.Value, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": arguments,
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": mcpVersion, "io.modelcontextprotocol/clientInfo": map[string]any{"name": "soak", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		},
	}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.at.MCP, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + p.at.AgentToken, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": mcpVersion, "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return nil, err
	}
	return answer(text)
}

// answer returns what a tool answered. The message can be an event of a stream.
func answer(text []byte) (ahp.Value, error) {
	if at := bytes.Index(text, []byte("{")); at > 0 {
		text = text[at:]
	}
	var m struct {
		Error  *struct{ Message string }
		Result struct {
			IsError bool
			Content []struct{ Text string }
			// StructuredContent has the value of an action.
			StructuredContent struct{ Value json.RawMessage }
		}
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&m); err != nil {
		return nil, fmt.Errorf("the answer of MCP cannot be read: %w", err)
	}
	switch {
	case m.Error != nil:
		return nil, errors.New(m.Error.Message)
	case len(m.Result.Content) == 0:
		return nil, errors.New("the tool answered nothing")
	case m.Result.IsError:
		return nil, errors.New(m.Result.Content[0].Text)
	}
	return ahp.Value(m.Result.StructuredContent.Value), nil
}
