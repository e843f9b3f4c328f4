package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

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
)

// Error is every failure of a canvas operation: one type, told apart by Code.
type Error struct {
	Code    string
	Message string
	// Path and Rule place an invalid input (JSON Pointer, schema keyword).
	Path, Rule string
	// Candidates are the extension ids among which an ambiguous canvasId is.
	Candidates []string
}

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
	return ahp.Errorf(code, "%s", e.Message).With(ahp.ProviderErrorData{Code: e.Code, Message: e.Message})
}
