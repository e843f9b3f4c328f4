package site

import (
	"fmt"
	"net/http"
	"time"
)

// The codes of a [Refusal].
const (
	CodeUnauthorized  = "unauthorized"
	CodeForbidden     = "forbidden"
	CodeLimit         = "limit_exceeded"
	CodeNotFound      = "not_found"
	CodeInvalidParams = "invalid_params"
	CodeMissingHeader = "missing_header"
	CodeInvalidCode   = "invalid_code"
	CodeInvalidProof  = "invalid_payload"
	CodePayment       = "payment_required"
	CodeFailed        = "action_failed"
	CodeUnavailable   = "unavailable"
	CodeTimeout       = "timeout"
	CodeBusy          = "busy"
	CodeBadRequest    = "bad_request"
	CodeTooLarge      = "too_large"
	CodeMediaType     = "unsupported_media_type"
	CodeMethod        = "method_not_allowed"
	CodeMisdirected   = "misdirected_request"
)

// Refusal is an error that an agent receives as an HTTP answer.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Code is one of the constants of this package, or a word of the payment protocol.
	Code string
	// Message is for people and agents.
	Message string
	// Path is a JSON Pointer to the parameter that is wrong.
	Path string
	// RetryAfter is when a retry can succeed; 0 says nothing.
	RetryAfter time.Duration
	// Challenge asks for a payment.
	Challenge *Challenge
	// signIn adds what an agent needs to get a credential.
	signIn bool
	// rule is the schema keyword that a parameter violates.
	rule string
	// settled says that the payment was collected although the action failed.
	settled bool
}

// Error returns the message, followed by the code.
func (r *Refusal) Error() string { return r.Message + " (" + r.Code + ")" }

func refuse(status int, code, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func unauthorized(format string, args ...any) *Refusal {
	r := refuse(http.StatusUnauthorized, CodeUnauthorized, format, args...)
	r.signIn = true
	return r
}

// Failure is an error of an [Executor] that an agent receives. Agents learn nothing of the
// text of other errors.
type Failure struct {
	// Status is the HTTP status: 422 for input that the action did not accept, 503 if the
	// action cannot be reached, 504 if it took too long; 0 is 502.
	Status int
	// Code is the action's code for what failed, if it has one.
	Code string
	// Message is for people and agents.
	Message string
	// Path is a JSON Pointer to the parameter that is wrong.
	Path string
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }
