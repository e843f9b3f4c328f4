package aam

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The codes of an [Error].
const (
	CodeInputInvalid    = "canvas_input_invalid"  // an argument of the caller
	CodeNoManifest      = "aam_no_manifest"       // the site publishes none
	CodeManifestInvalid = "aam_manifest_invalid"  // the manifest breaks a rule
	CodeSiteUnavailable = "aam_site_unavailable"  // no connection, or it is not allowed
	CodeForbidden       = "aam_forbidden"         // wrong vendor, or the action is not in scope
	CodeLimitExceeded   = "aam_limit_exceeded"    // a limit of the person's at the site
	CodePaymentInvalid  = "aam_payment_invalid"   // the site or this program refuses the payment
	CodeActionFailed    = "aam_action_failed"     // the site's action failed
	CodeOutcomeUnknown  = "aam_outcome_unknown"   // the request left, and its answer was lost
	CodeDeclined        = "aam_declined"          // the person said no, or nothing in time
	CodeSignInFailed    = "aam_sign_in_failed"    // a code or a credential was refused
	CodeTooMany         = "canvas_limit_exceeded" // too many calls at once
	CodePINWrong        = "aam_pin_wrong"         // the PIN is wrong
	CodePINLocked       = "aam_pin_locked"        // too many wrong ones
	CodePINUnset        = "aam_pin_unset"         // none was set
	CodeInternal        = "aam_internal"          // the disk failed
)

// Error is an error of this package. Its text has no token, code, PIN or key.
type Error struct {
	// Code is one of the constants of this package.
	Code string
	// Message is for people and agents.
	Message string
	// Path is a JSON Pointer to what is wrong: into the manifest or into the arguments.
	Path string
	// Rule is the rule of a schema that is broken.
	Rule string
	// Candidates has what exists, if a name is unknown.
	Candidates []string
}

// Error returns the message, with place and code.
func (e *Error) Error() string {
	if e.Path != "" {
		return e.Path + ": " + e.Message + " (" + e.Code + ")"
	}
	return e.Message + " (" + e.Code + ")"
}

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

func errorf(code, path, format string, args ...any) *Error {
	return &Error{Code: code, Path: path, Message: fmt.Sprintf(format, args...)}
}

// quote is a text of a site or an agent in a message: one line, cut.
func quote(s string) string { return fmt.Sprintf("%q", ahp.Line(s, 80)) }
