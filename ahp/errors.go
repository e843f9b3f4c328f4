package ahp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code is a JSON-RPC error code.
type Code int32

// The codes of JSON-RPC 2.0 and of AHP that this host speaks.
const (
	CodeParse          Code = -32700 // not JSON, or JSON outside the limits
	CodeInvalidRequest Code = -32600 // not a JSON-RPC message, a batch, or out of order in the handshake
	CodeMethodNotFound Code = -32601
	CodeInvalidParams  Code = -32602
	CodeInternal       Code = -32603

	CodeSessionNotFound            Code = -32001
	CodeProviderNotFound           Code = -32002
	CodeSessionExists              Code = -32003
	CodeUnsupportedProtocolVersion Code = -32005 // data is [UnsupportedVersionData]
	CodeNotFound                   Code = -32008
	CodePermissionDenied           Code = -32009
	CodeAlreadyExists              Code = -32010
	CodeConflict                   Code = -32011
	CodeCanvasProvider             Code = -32012 // data is [ProviderErrorData]
)

// Codes names every error code that the host may answer with, for the
// reference, the schemas and the coverage test.
var Codes = map[Code]string{
	CodeParse:                      "ParseError",
	CodeInvalidRequest:             "InvalidRequest",
	CodeMethodNotFound:             "MethodNotFound",
	CodeInvalidParams:              "InvalidParams",
	CodeInternal:                   "InternalError",
	CodeSessionNotFound:            "SessionNotFound",
	CodeProviderNotFound:           "ProviderNotFound",
	CodeSessionExists:              "SessionAlreadyExists",
	CodeUnsupportedProtocolVersion: "UnsupportedProtocolVersion",
	CodeNotFound:                   "NotFound",
	CodePermissionDenied:           "PermissionDenied",
	CodeAlreadyExists:              "AlreadyExists",
	CodeConflict:                   "Conflict",
	CodeCanvasProvider:             "CanvasProviderError",
}

// Error is the error object of a JSON-RPC response.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Data    Value  `json:"data,omitzero"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Is compares by code, so that errors.Is(err, ahp.ErrNotFound) asks for the kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf makes an error of a code with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With returns a copy of e that carries data, encoded.
func (e *Error) With(data any) *Error {
	c := *e
	c.Data = MustMarshal(data)
	return &c
}

// The errors that several packages compare against or answer with.
var (
	ErrInvalidParams    = &Error{Code: CodeInvalidParams, Message: "invalid params"}
	ErrMethodNotFound   = &Error{Code: CodeMethodNotFound, Message: "no such method"}
	ErrNotFound         = &Error{Code: CodeNotFound, Message: "no such resource"}
	ErrPermissionDenied = &Error{Code: CodePermissionDenied, Message: "not permitted"}
	ErrSessionNotFound  = &Error{Code: CodeSessionNotFound, Message: "no such session"}
)

// UnsupportedVersionData is the data of CodeUnsupportedProtocolVersion.
type UnsupportedVersionData struct {
	SupportedVersions []string `json:"supportedVersions"`
}

// ProviderErrorData is the data of CodeCanvasProvider: the provider's own code,
// or one of the host's (canvas.md section 3), and a sentence.
type ProviderErrorData struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Details is what the provider adds for programs: a JSON object; absent if there
	// is none.
	Details Value `json:"details,omitzero"`
}

// ToError maps any error to the wire. A coded error keeps its code and data
// through wrapping; whatever has no code becomes CodeInternal with a plain
// text, and its detail belongs into the log of whoever calls this. A message may
// quote a stranger: bytes of it that are no UTF-8 are replaced.
func ToError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if !utf8.ValidString(e.Message) {
			c := *e
			c.Message = strings.ToValidUTF8(e.Message, "\uFFFD")
			e = &c
		}
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Errorf(CodeInternal, "the request took too long")
	}
	return Errorf(CodeInternal, "internal error")
}
