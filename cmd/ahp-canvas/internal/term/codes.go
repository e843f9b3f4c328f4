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
	CodeAmbiguousHost   = "host_ambiguous"
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
	canvas.CodeNotFound:            `"ahp-canvas ls" lists the canvases that can be opened.`,
	canvas.CodeInstanceNotFound:    `"ahp-canvas ls" lists the open canvases.`,
	canvas.CodeSessionNotFound:     "Leave out --session to use the default session.",
	canvas.CodeAmbiguous:           "Choose one with --extension: {candidates}.",
	canvas.CodeAlreadyOpen:         "Choose another --instance, or close the open one first.",
	canvas.CodeInputInvalid:        `"ahp-canvas describe CANVAS" says what its input and its actions take.`,
	canvas.CodeNoHandler:           `"ahp-canvas ls" lists the actions of each canvas.`,
	canvas.CodeProviderUnavailable: "The provider of this canvas is not running. Start it, or close the canvas.",
	canvas.CodeTimeout:             "It might still have taken effect. Check the canvas before you repeat it.",
	canvas.CodeLimitExceeded:       `If too many canvases are open, close some; "ahp-canvas ls" lists them.`,
	CodeChecksFailed:               "The lines above say what to do.",
	CodeOffline:                    `Start the host on its own machine with "ahp-canvas serve --relay …". The link stays the same.`,
	CodeLinkRefused:                "Use the link that serve prints now, or ask for a new one.",
	CodeAmbiguousHost:              "Choose one with --host {alternatives}.",
	CodeNoHost:                     "Start one with: ahp-canvas serve",
	mcp.CodeUnreachable:            "Check that it is still running, or start one with: ahp-canvas serve",
	mcp.CodeRefused:                "It might have another version than this command. Restart it with the same version.",
	mcp.CodeTokenRefused:           "Give the host's agent token with --token-file or in AHP_CANVAS_TOKEN.",
}

// Hint returns what a person can do about a failure with a code, or "".
func Hint(code string) string { return hints[code] }

// HintFor is Hint with the error's candidates filled in.
func HintFor(e *canvas.Error) string {
	return strings.NewReplacer(
		"{candidates}", strings.Join(e.Candidates, ", "),
		"{alternatives}", strings.Join(e.Candidates, " or --host "),
	).Replace(hints[e.Code])
}
