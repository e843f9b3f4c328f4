package canvas

import (
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The error codes of the host (canvas/PROTOCOL.md section 3). Codes of providers are
// passed on unchanged.
const (
	CodeNotFound            = "canvas_not_found"
	CodeInstanceNotFound    = "canvas_instance_not_found"
	CodeSessionNotFound     = "canvas_session_not_found"
	CodeAmbiguous           = "canvas_ambiguous"
	CodeAlreadyOpen         = "canvas_already_open"
	CodeInputInvalid        = "canvas_input_invalid"
	CodeNoHandler           = "canvas_action_no_handler"
	CodeReservedActionName  = "canvas_reserved_action_name"
	CodeProviderUnavailable = "canvas_provider_unavailable"
	CodeHandlerError        = "canvas_handler_error"
	CodeTimeout             = "canvas_timeout"
	CodeLimitExceeded       = "canvas_limit_exceeded"
	// CodeStoreFailed is not part of the Canvas proposal: the store could not save the
	// change, for example on a full disk. Nothing changed, except that a canvas whose
	// close failed is stale.
	CodeStoreFailed = "canvas_store_failed"
)

// Error is the error of every canvas operation that fails. Errors are equal to
// [errors.Is] if their codes are.
type Error struct {
	// Code is one of the constants of this package, or a provider's code.
	Code string
	// Message is for people and agents.
	Message string
	// Path and Rule locate an invalid input: a JSON Pointer into the arguments
	// ("/instanceId", "/input/title"), and the violated schema keyword. For rules
	// outside the schema, Rule is "type", "pattern" or "maxLength".
	Path, Rule string
	// Candidates are the extension ids that declare an ambiguous canvasId.
	Candidates []string
	// Details is a JSON object that a provider adds for programs, at most [MaxDetails]
	// bytes; nil if there is none. AHP clients find it in data.details, MCP clients in
	// the structured content, and the command line prints it with --json. A larger
	// value, or one that is not an object, is dropped.
	Details ahp.Value
}

// MaxDetails bounds Error.Details, in bytes.
const MaxDetails = 4 << 10

// Error returns the message, followed by the code.
func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Wire returns the JSON-RPC error that carries e (-32012, or -32010 for
// canvas_already_open).
func (e *Error) Wire() *ahp.Error {
	code := ahp.CodeCanvasProvider
	if e.Code == CodeAlreadyOpen {
		code = ahp.CodeAlreadyExists
	}
	// A provider can put any bytes into both.
	data := ahp.ProviderErrorData{
		Code: strings.ToValidUTF8(e.Code, "\uFFFD"), Message: strings.ToValidUTF8(e.Message, "\uFFFD"), Details: e.ValidDetails(),
	}
	return ahp.Errorf(code, "%s", data.Message).With(data)
}

// ValidDetails returns Details if it is a JSON object of at most [MaxDetails] bytes, and
// nil otherwise: it may come from a provider.
func (e *Error) ValidDetails() ahp.Value {
	if len(e.Details) > MaxDetails || !e.Details.IsValid() || e.Details.Kind() != '{' {
		return nil
	}
	return e.Details
}

// Errorf returns an error with a code: one of this package, or a provider's.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
