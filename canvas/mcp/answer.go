package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// CodeInternal is the code of an unexpected failure of the host, whose details are
// only in its log.
const CodeInternal = "internal_error"

// answer is a tool's result: a sentence for a model, and a value for programs.
type answer struct {
	text  string
	value any
	meta  sdk.Meta // for clients, not for models; nil is none
}

// failed is the structured content of an error (canvas/PROTOCOL.md section 3).
type failed struct {
	Code       string    `json:"code"`
	Message    string    `json:"message"`
	Path       string    `json:"path,omitzero"`
	Rule       string    `json:"rule,omitzero"`
	Candidates []string  `json:"candidates,omitzero"`
	Details    ahp.Value `json:"details,omitzero"`
}

// result builds a tool's result, which contains the value twice (see the package
// comment).
func result(text string, value ahp.Value, isError bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: text}, &sdk.TextContent{Text: string(value)}},
		StructuredContent: json.RawMessage(value),
		IsError:           isError,
	}
}

// failure turns an error into a result with a hint, and logs unexpected errors.
func (s *Server) failure(ctx context.Context, tool string, err error) *sdk.CallToolResult {
	e, ok := errors.AsType[*canvas.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		e = &canvas.Error{Code: canvas.CodeTimeout, Message: "the canvas did not answer in time"}
	case ctx.Err() != nil: // the client no longer waits
		e = &canvas.Error{Code: canvas.CodeHandlerError, Message: "the call was canceled"}
	default:
		s.opts.Logger.Error("tool call failed", "method", tool, "err", err)
		e = &canvas.Error{Code: CodeInternal, Message: "the host failed; its log has the details"}
	}
	return errorResult(e)
}

// errorResult returns an error as a result with a hint.
func errorResult(e *canvas.Error) *sdk.CallToolResult {
	f := failed{validUTF8(e.Code), validUTF8(e.Message), e.Path, e.Rule, e.Candidates, e.ValidDetails()}
	text := f.Code + ": " + f.Message
	if hint := hintFor(e); hint != "" {
		text += "\n" + hint
	}
	return result(text, ahp.MustMarshal(f), true)
}

// validUTF8 replaces invalid UTF-8: a code or message can come from a provider.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Structured returns the structured content of a result of this server, exactly as the
// host wrote it; the MCP library decodes each number as a float64. ok is false for
// another server's result.
func Structured(r *sdk.CallToolResult) (ahp.Value, bool) {
	if r.StructuredContent == nil || len(r.Content) == 0 {
		return nil, false
	}
	text, ok := r.Content[len(r.Content)-1].(*sdk.TextContent)
	if !ok || !ahp.Value(text.Text).IsValid() {
		return nil, false
	}
	return ahp.Value(text.Text), true
}

// Failure returns the error in a result of this server, or nil if the call succeeded.
func Failure(r *sdk.CallToolResult) *canvas.Error {
	if !r.IsError {
		return nil
	}
	v, ok := Structured(r)
	var f failed
	if !ok || ahp.Unmarshal(v, &f) != nil {
		return &canvas.Error{Code: CodeInternal, Message: "the error result is not from a canvas host"}
	}
	return &canvas.Error{Code: f.Code, Message: f.Message, Path: f.Path, Rule: f.Rule, Candidates: f.Candidates, Details: f.Details}
}
