package term

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// The codes of failures of this program itself. Other codes are in packages canvas and
// canvas/mcp.
const (
	CodeNoHost          = "host_not_found"
	CodeNotStarted      = "host_not_started"
	CodeRelayNotStarted = "relay_not_started"
	CodeRelayRefused    = "relay_refused"
	CodeOffline         = "host_offline"
	CodeLinkRefused     = "link_refused"
	CodeChecksFailed    = "checks_failed"
	CodeFailed          = "failed" // any failure without a code; printed with --json only
)

// hints say what a person can do next, by code.
var hints = map[string]string{
	canvas.CodeNotFound:            "ahp-canvas ls shows which canvases there are.",
	canvas.CodeInstanceNotFound:    "ahp-canvas ls shows what is open.",
	canvas.CodeSessionNotFound:     "Leave --session out for the default session.",
	canvas.CodeAmbiguous:           "Say which with --extension, one of: {candidates}.",
	canvas.CodeAlreadyOpen:         "Choose another --instance, or close this one first.",
	canvas.CodeInputInvalid:        "ahp-canvas ls --json shows the schemas of inputs.",
	canvas.CodeNoHandler:           "ahp-canvas ls shows the actions of each canvas.",
	canvas.CodeProviderUnavailable: "What provides this canvas is not there now: start it, or close the canvas.",
	canvas.CodeTimeout:             "It may still have happened: look at the canvas before you repeat it.",
	canvas.CodeLimitExceeded:       "Where too many canvases are open, close those of no more use: ahp-canvas ls shows them.",
	CodeChecksFailed:               "The lines above say what to do.",
	CodeOffline:                    "Start it where it belongs, with ahp-canvas serve --relay …; the link stays the same.",
	CodeLinkRefused:                "Take the link that serve prints now, or ask for a new one.",
	CodeNoHost:                     "Start one with: ahp-canvas serve",
	mcp.CodeUnreachable:            "Look whether it still runs, or start one with: ahp-canvas serve",
	mcp.CodeRefused:                "It may be of another version than this command: restart it with the same one.",
	mcp.CodeTokenRefused:           "Give its agent token with --token-file or in AHP_CANVAS_TOKEN.",
}

// Hint returns what a person can do about a failure with a code, or "".
func Hint(code string) string { return hints[code] }

// HintFor is Hint with the error's candidates filled in.
func HintFor(e *canvas.Error) string {
	return strings.ReplaceAll(hints[e.Code], "{candidates}", strings.Join(e.Candidates, ", "))
}
