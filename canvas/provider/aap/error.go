package aap

import (
	"fmt"
	"net/http"
)

// The codes of an [Error].
const (
	CodeMissingField   = "missing_field"      // a required member is absent, null or empty
	CodeInvalidField   = "invalid_field"      // a member has the wrong type, or is too long
	CodeInvalidRequest = "invalid_request"    // the path, the kind of file or the JSON is wrong
	CodeNotFound       = "not_found"          // the agent, page, record or address is unknown
	CodeTooLarge       = "too_large"          // a body or a page is above its limit
	CodeNotAllowed     = "method_not_allowed" // HTTP only
	CodeRateLimited    = "rate_limited"       // too many interactions a second
	CodeStorageFull    = "storage_full"       // the agent has as many records as it may have
	CodeInternal       = "internal_error"     // the disk failed
)

// Error is an error of this package. Errors are equal to [errors.Is] if their codes are.
// Its text names no path outside of the canvas folder, except for CodeStorageFull.
type Error struct {
	// Code is one of the constants of this package.
	Code string `json:"error"`
	// Message is for people and agents.
	Message string `json:"message"`
	// Field is the member that is wrong; "" if none is.
	Field string `json:"field,omitzero"`
}

// Error returns the message, followed by the code.
func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// HTTPStatus returns the status with which the HTTP API answers the error.
func (e *Error) HTTPStatus() int {
	switch e.Code {
	case CodeMissingField, CodeInvalidField, CodeInvalidRequest:
		return http.StatusBadRequest
	case CodeNotFound:
		return http.StatusNotFound
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeNotAllowed:
		return http.StatusMethodNotAllowed
	case CodeRateLimited:
		return http.StatusTooManyRequests
	case CodeStorageFull:
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

func errorf(code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

func missing(field string) *Error {
	return errorf(CodeMissingField, field, "%s is required", field)
}

func badPath(field string) *Error {
	return errorf(CodeInvalidRequest, field, "Invalid file path")
}

func unknownAgent(name string) *Error {
	return errorf(CodeNotFound, "", "Agent '%s' not found", clean(cut(name, 128)))
}

func unknownPage(file string) *Error {
	return errorf(CodeNotFound, "", "Canvas file '%s' not found", file)
}

// failed hides the reason of a failed file operation, which can contain paths; the log
// has the reason.
func (s *Store) failed(what string, err error) *Error {
	s.logger.Error("aap: "+what+" failed", "err", reason(err))
	return errorf(CodeInternal, "", "%s failed; the host's log has the reason", what)
}
