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

// CodeInternal is the code of a failure that is none of the canvas's: a bug of
// the host, whose detail stands in its log.
const CodeInternal = "internal_error"

// answer is what a tool says: a sentence for a model, and a value for programs.
type answer struct {
	text  string
	value any
}

// failed is the structured content of an error (canvas.md section 3).
type failed struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Path       string   `json:"path,omitzero"`
	Rule       string   `json:"rule,omitzero"`
	Candidates []string `json:"candidates,omitzero"`
}

// result builds a tool's result; the value stands in it twice (see the package
// comment).
func result(text string, value ahp.Value, isError bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: text}, &sdk.TextContent{Text: string(value)}},
		StructuredContent: json.RawMessage(value),
		IsError:           isError,
	}
}

// failure turns an error into a result that says what to do next.
func (s *Server) failure(ctx context.Context, tool string, err error) *sdk.CallToolResult {
	e, ok := errors.AsType[*canvas.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		e = &canvas.Error{Code: canvas.CodeTimeout, Message: "the canvas did not answer in time"}
	case ctx.Err() != nil: // nobody waits for the answer
		e = &canvas.Error{Code: canvas.CodeHandlerError, Message: "the call was cancelled"}
	default:
		s.opts.Logger.Error("tool call failed", "method", tool, "err", err)
		e = &canvas.Error{Code: CodeInternal, Message: "the host failed; its log says why"}
	}
	return errorResult(e)
}

// errorResult is an error as a result, in words that say what to do next.
func errorResult(e *canvas.Error) *sdk.CallToolResult {
	f := failed{legible(e.Code), legible(e.Message), e.Path, e.Rule, e.Candidates}
	text := f.Code + ": " + f.Message
	if hint := advice(e); hint != "" {
		text += "\n" + hint
	}
	return result(text, ahp.MustMarshal(f), true)
}

// legible replaces what is no UTF-8: code and message may be a provider's, and any
// bytes.
func legible(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Structured returns the structured content of a result of this door, exactly as
// the host wrote it: the library's own decoding makes every number a float64.
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

// Failure returns the error that a result of this door carries, or nil where
// the call succeeded.
func Failure(r *sdk.CallToolResult) *canvas.Error {
	if !r.IsError {
		return nil
	}
	v, ok := Structured(r)
	var f failed
	if !ok || ahp.Unmarshal(v, &f) != nil {
		return &canvas.Error{Code: CodeInternal, Message: "the answer is no answer of this door"}
	}
	return &canvas.Error{Code: f.Code, Message: f.Message, Path: f.Path, Rule: f.Rule, Candidates: f.Candidates}
}
