package canvas

import (
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The codes of the host's own provider errors (canvas.md section 3). A
// provider's code passes through as it is.
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
	// CodeStoreFailed is this host's own: what was asked for could not be kept (a
	// full disk), so nothing was changed, but that a canvas that was to be closed is
	// stale.
	CodeStoreFailed = "canvas_store_failed"
)

// Error is every failure of a canvas operation: one type, told apart by Code.
type Error struct {
	Code    string
	Message string
	// Path and Rule place an invalid input: a JSON Pointer into the arguments
	// ("/instanceId", "/input/title"), and the schema keyword or "type",
	// "pattern", "maxLength" for the host's own rules.
	Path, Rule string
	// Candidates are the extension ids that declare an ambiguous canvasId.
	Candidates []string
	// Details is what the provider adds for programs: a JSON object of at most
	// [MaxDetails] bytes, nil if there is none. It reaches AHP clients as
	// data.details, MCP clients in the structured content, and the command line with
	// --json. A larger one, or one that is no object, is dropped.
	Details ahp.Value
}

// MaxDetails bounds Error.Details, in bytes.
const MaxDetails = 4 << 10

func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Is compares by code.
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
	// They may be a provider's, and any bytes.
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

// Errorf makes an error of a code, for providers; the code may be their own.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
