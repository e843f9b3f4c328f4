package actionsbridge

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The stable codes of the protocol.
const (
	CodeUnknownAction         = "unknown_action"
	CodeInvalidInput          = "invalid_input"
	CodeRuntimeNotReady       = "runtime_not_ready"
	CodePermissionDenied      = "permission_denied"
	CodeAmbiguousRuntime      = "ambiguous_runtime"
	CodeRuntimeNotFound       = "runtime_not_found"
	CodeCapabilityUnavailable = "capability_unavailable"
	CodeMissingHandler        = "missing_handler"
	CodeHandlerFailed         = "handler_failed"
	CodeHandlerTimeout        = "handler_timeout"
	CodeInvalidResult         = "invalid_result"
	CodeTargetNotFound        = "target_not_found"
	CodeStateMismatch         = "state_mismatch"
	CodeDriftDetected         = "drift_detected"
	CodeUnsafeState           = "unsafe_state"
	CodeTransportFailed       = "transport_failed"
)

// codeInfo is what this side says about an error of a code.
type codeInfo struct {
	status      int // HTTP
	severity    string
	recoverable bool
	next        string // what the agent can do
}

// codes has the errors that this side raises. A runtime's own errors keep their severity
// and recoverable.
var codes = map[string]codeInfo{
	CodeUnknownAction:         {http.StatusBadRequest, "minor", true, "call list_actions and use one of its names"},
	CodeInvalidInput:          {http.StatusBadRequest, "minor", true, "correct the arguments; list_actions has the schema"},
	CodeRuntimeNotReady:       {http.StatusConflict, "minor", true, "wait a moment, then look at list_runtimes"},
	CodePermissionDenied:      {http.StatusForbidden, "major", true, "ask the person to allow it in the card \"Browser pages\""},
	CodeAmbiguousRuntime:      {http.StatusConflict, "minor", true, "select one of the candidates by its runtime_id"},
	CodeRuntimeNotFound:       {http.StatusNotFound, "major", true, "look at list_runtimes, or ask the person to connect the page"},
	CodeCapabilityUnavailable: {http.StatusNotImplemented, "major", false, "use another action; this runtime cannot do it"},
	CodeMissingHandler:        {http.StatusNotImplemented, "major", false, "use another action; the page does not have its function"},
	CodeHandlerFailed:         {http.StatusUnprocessableEntity, "major", true, "look at the page before trying again"},
	CodeHandlerTimeout:        {http.StatusGatewayTimeout, "major", true, "look at the page before trying again: the action may have happened"},
	CodeInvalidResult:         {http.StatusBadGateway, "major", false, "look at the page: the action has happened, its result cannot be used"},
	CodeTargetNotFound:        {http.StatusUnprocessableEntity, "major", true, "look at the page and use another target"},
	CodeStateMismatch:         {http.StatusUnprocessableEntity, "major", true, "bring the page into the required state first"},
	CodeDriftDetected:         {http.StatusUnprocessableEntity, "major", false, "the page differs from its manifest; tell the person"},
	CodeUnsafeState:           {http.StatusUnprocessableEntity, "critical", false, "stop and tell the person"},
	CodeTransportFailed:       {http.StatusBadGateway, "major", true, "wait for the page to return and look at it before trying again: the action may have happened"},
}

// Error is a failure in terms of the protocol. Errors are equal to [errors.Is] if their
// codes are.
type Error struct {
	// Code is one of the constants of this package, or a runtime's own code.
	Code string
	// Message is for people and agents: at most 1,000 code points, without control
	// characters.
	Message string
	// Severity is info, minor, major or critical; "" is absent.
	Severity string
	// Recoverable says whether another try can succeed; nil is absent.
	Recoverable *bool
	// Evidence is structured context; nil is absent.
	Evidence ahp.Value
	// NextStep says in words what an agent can do; "" is absent.
	NextStep string
	// CallID and RuntimeID name the call and the runtime; "" is absent.
	CallID, RuntimeID string
	// Extra has the further members of a runtime's error, as a JSON object; nil if there
	// are none.
	Extra ahp.Value
}

// Error returns the message, followed by the code.
func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// HTTPStatus returns the status with which a program answers the error over HTTP.
func (e *Error) HTTPStatus() int {
	return cmp.Or(codes[e.Code].status, http.StatusUnprocessableEntity)
}

// NewError returns an error of this side: with the severity, recoverable and next step of
// its code. The evidence can be nil.
func NewError(code string, evidence any, format string, args ...any) *Error {
	info := codes[code]
	e := &Error{Code: code, Message: cleanText(fmt.Sprintf(format, args...), maxMessage), Severity: info.severity, NextStep: info.next}
	if info.severity != "" {
		e.Recoverable = &info.recoverable
	}
	if evidence != nil {
		e.Evidence = ahp.MustMarshal(evidence)
	}
	return e
}

// about returns a copy of e that names a call and a runtime.
func (e *Error) about(callID, runtimeID string) *Error {
	c := *e
	c.CallID, c.RuntimeID = callID, runtimeID
	return &c
}

// maxMessage bounds the message of an error, in code points.
const maxMessage = 1000

// errorMembers are the members of an error that have a separate field.
var errorMembers = []string{"code", "message", "severity", "recoverable", "evidence", "next_step"}

// safeCode is what a runtime's own code must look like.
var safeCode = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// readAs are codes of other bridges, and ours for the same.
var readAs = map[string]string{"ambiguous_intent": CodeAmbiguousRuntime, "dispatch_timeout": CodeHandlerTimeout}

// readError reads a runtime's error object. ok is false if it has no code.
func readError(raw ahp.Value) (e *Error, ok bool) {
	var members map[string]ahp.Value
	if ahp.Unmarshal(raw, &members) != nil {
		return nil, false
	}
	code, isText := textOf(members["code"])
	if !isText || code == "" {
		return nil, false
	}
	e = &Error{Code: code}
	message, _ := textOf(members["message"])
	e.Message = cmp.Or(cleanText(message, maxMessage), "the page gave no reason")
	if s, _ := textOf(members["severity"]); s == "info" || s == "minor" || s == "major" || s == "critical" {
		e.Severity = s
	}
	var recoverable bool
	if v := members["recoverable"]; v != nil && (v.Kind() == 't' || v.Kind() == 'f') {
		recoverable = v.Kind() == 't'
		e.Recoverable = &recoverable
	}
	if v := members["evidence"]; v != nil && v.Kind() != 'n' {
		e.Evidence = v
	}
	next, _ := textOf(members["next_step"])
	e.NextStep = cleanText(next, maxMessage)
	for _, name := range errorMembers {
		delete(members, name)
	}
	if len(members) > 0 {
		e.Extra = ahp.MustMarshal(members)
	}
	return normalCode(e), true
}

// normalCode replaces a code that is another bridge's, or that does not look like a code.
func normalCode(e *Error) *Error {
	if ours, ok := readAs[e.Code]; ok {
		e.Code = ours
	}
	if !safeCode.MatchString(e.Code) {
		e.Evidence = ahp.MustMarshal(struct {
			Code     string    `json:"code"`
			Evidence ahp.Value `json:"evidence,omitzero"`
		}{cleanText(e.Code, 256), e.Evidence})
		e.Code = CodeHandlerFailed
	}
	return e
}

// Object returns the error as the member "error" of an action_error item.
func (e *Error) Object() ahp.Value {
	members := map[string]ahp.Value{}
	if e.Extra != nil {
		_ = ahp.Unmarshal(e.Extra, &members) // it was decoded, or is not an object and left out
	}
	put := func(name string, v any) { members[name] = ahp.MustMarshal(v) }
	put("code", e.Code)
	put("message", e.Message)
	if e.Severity != "" {
		put("severity", e.Severity)
	}
	if e.Recoverable != nil {
		put("recoverable", *e.Recoverable)
	}
	if e.Evidence != nil {
		members["evidence"] = e.Evidence
	}
	if e.NextStep != "" {
		put("next_step", e.NextStep)
	}
	return ahp.MustMarshal(members)
}

// maxEvidence bounds the evidence in details, in bytes.
const maxEvidence = 4 << 10

// Details returns everything but code and message as one JSON object of at most 4 KiB, for
// answers of limited size: evidence that does not fit becomes
// {"truncated": true, "bytes": n}, and further members that do not fit are left out.
func (e *Error) Details() ahp.Value {
	members := map[string]ahp.Value{}
	if e.Extra != nil {
		_ = ahp.Unmarshal(e.Extra, &members)
	}
	delete(members, "truncated")
	own := map[string]ahp.Value{}
	put := func(name string, v any) { own[name] = ahp.MustMarshal(v) }
	if e.CallID != "" {
		put("call_id", e.CallID)
	}
	if e.RuntimeID != "" {
		put("runtime_id", e.RuntimeID)
	}
	if e.Severity != "" {
		put("severity", e.Severity)
	}
	if e.Recoverable != nil {
		put("recoverable", *e.Recoverable)
	}
	if e.NextStep != "" {
		put("next_step", e.NextStep)
	}
	if e.Evidence != nil {
		own["evidence"] = e.Evidence
		if len(ahp.MustMarshal(own)) > maxEvidence {
			put("evidence", map[string]any{"truncated": true, "bytes": len(e.Evidence)})
		}
	}
	return withOthers(own, members)
}

// withOthers encodes own with as many of the others as fit; own wins.
func withOthers(own, others map[string]ahp.Value) ahp.Value {
	all := map[string]ahp.Value{}
	maps.Copy(all, others)
	maps.Copy(all, own)
	if out := ahp.MustMarshal(all); len(out) <= maxEvidence {
		return out
	}
	if out := ahp.MustMarshal(own); len(out) <= maxEvidence {
		return out
	}
	delete(own, "next_step") // a runtime's can be long
	return ahp.MustMarshal(own)
}

// textOf returns the text of a JSON string.
func textOf(v ahp.Value) (string, bool) {
	if v == nil || v.Kind() != '"' {
		return "", false
	}
	var s string
	return s, ahp.Unmarshal(v, &s) == nil
}

// cleanText returns text as one line: each control or bidirectional character is a space,
// and there are at most n code points.
func cleanText(text string, n int) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, text)
	text = strings.TrimSpace(text)
	if count := 0; len(text) > n {
		for i := range text {
			if count++; count > n {
				return text[:i]
			}
		}
	}
	return text
}
