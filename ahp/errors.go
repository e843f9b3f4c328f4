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

// The codes of JSON-RPC 2.0 and of AHP that this host uses (ahp/PROTOCOL.md
// section 5.1).
const (
	CodeParse          Code = -32700 // not JSON, or JSON outside the limits
	CodeInvalidRequest Code = -32600 // not a JSON-RPC request, a batch, or a request at the wrong time of the handshake
	CodeMethodNotFound Code = -32601 // unknown method
	CodeInvalidParams  Code = -32602 // params that break a rule of their method
	CodeInternal       Code = -32603 // a fault of the host

	CodeSessionNotFound            Code = -32001 // unknown session
	CodeProviderNotFound           Code = -32002 // unknown agent provider
	CodeSessionExists              Code = -32003 // the session exists already
	CodeUnsupportedProtocolVersion Code = -32005 // no offered version is supported; data is [UnsupportedVersionData]
	CodeNotFound                   Code = -32008 // unknown resource
	CodePermissionDenied           Code = -32009 // the connection may not do that
	CodeAlreadyExists              Code = -32010 // the canvas is open already
	CodeConflict                   Code = -32011 // unused: this host does not serve resourceWrite
	CodeCanvasProvider             Code = -32012 // a canvas provider failed; data is [ProviderErrorData]
)

// Codes names every error code that the host might send. The schemas and the
// coverage test read it.
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
	// Code is the kind of error.
	Code Code `json:"code"`
	// Message is one sentence for people.
	Message string `json:"message"`
	// Data has details for programs. Its type depends on the code.
	Data Value `json:"data,omitzero"`
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Is reports whether target is an Error with the same code. So
// errors.Is(err, ahp.ErrNotFound) asks for the code, whatever the message.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf returns an error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With returns a copy of e with data, which is encoded now.
func (e *Error) With(data any) *Error {
	c := *e
	c.Data = MustMarshal(data)
	return &c
}

// The errors that several packages return or compare with.
var (
	ErrInvalidParams    = &Error{Code: CodeInvalidParams, Message: "invalid params"}
	ErrMethodNotFound   = &Error{Code: CodeMethodNotFound, Message: "no such method"}
	ErrNotFound         = &Error{Code: CodeNotFound, Message: "no such resource"}
	ErrPermissionDenied = &Error{Code: CodePermissionDenied, Message: "not permitted"}
	ErrSessionNotFound  = &Error{Code: CodeSessionNotFound, Message: "no such session"}
)

// UnsupportedVersionData is the data of [CodeUnsupportedProtocolVersion].
type UnsupportedVersionData struct {
	// SupportedVersions are SemVer ranges, newest first.
	SupportedVersions []string `json:"supportedVersions"`
}

// ProviderErrorData is the data of [CodeCanvasProvider].
type ProviderErrorData struct {
	// Code is the provider's own code, or one of canvas/PROTOCOL.md section 3.6.
	Code string `json:"code"`
	// Message is one sentence for people.
	Message string `json:"message"`
	// Details is an optional JSON object that the provider adds for programs.
	Details Value `json:"details,omitzero"`
}

// ToError returns the error to send for err. A wrapped [Error] keeps its code and
// data. Any other error becomes CodeInternal without its text, which the caller
// should log. Messages can quote untrusted input, so invalid UTF-8 is replaced.
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
