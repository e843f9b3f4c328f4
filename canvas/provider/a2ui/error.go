package a2ui

import "fmt"

// The codes of failures. ValidationFailed is A2UI's own.
const (
	CodeValidationFailed   = "VALIDATION_FAILED"
	CodeVersionUnsupported = "a2ui_version_unsupported"
	CodeCatalogUnsupported = "a2ui_catalog_unsupported"
	CodeSurfaceExists      = "a2ui_surface_exists"
	CodeSurfaceNotFound    = "a2ui_surface_not_found"
	CodeDataPath           = "a2ui_data_path"
	CodeTooLarge           = "a2ui_too_large"
	CodeAgentUnavailable   = "a2ui_agent_unavailable"
	CodeAgentSilent        = "a2ui_agent_silent"
)

// Failure is what is wrong with one message of a list.
type Failure struct {
	// Index is the message's place in the list.
	Index int `json:"index"`
	// Code is one of the constants of this package.
	Code string `json:"code"`
	// SurfaceID is the surface that the message names; "" if it names none.
	SurfaceID string `json:"surfaceId,omitzero"`
	// Path is a JSON Pointer into the message, such as
	// "/updateComponents/components/2/text".
	Path string `json:"path"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// Error returns the message with its code.
func (f Failure) Error() string { return f.Message + " (" + f.Code + ")" }

// Error is a failure that belongs to no message of a list.
type Error struct {
	// Code is one of the constants of this package.
	Code string
	// Path is a JSON Pointer into the input; "" if there is none.
	Path string
	// Message says what is wrong and what to do. It contains no URL.
	Message string
}

// Error returns the message with its code.
func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Errorf returns an Error.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
