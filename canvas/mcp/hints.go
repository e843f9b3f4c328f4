package mcp

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// hints tell a model what to do about an error, by its code.
var hints = map[string]string{
	canvas.CodeNotFound:            "Call " + ToolList + " to see the canvases.",
	canvas.CodeInstanceNotFound:    "Call " + ToolListOpen + " to see the open canvases, or " + ToolOpen + " to open one.",
	canvas.CodeSessionNotFound:     "Omit session for the default session.",
	canvas.CodeAmbiguous:           "Call again with extensionId, one of: {candidates}.",
	canvas.CodeAlreadyOpen:         "Choose another instanceId, or call " + ToolClose + " on this one first.",
	canvas.CodeInputInvalid:        "Correct {place} and call again; see {schemas}.",
	canvas.CodeNoHandler:           "Call " + ToolList + " with describe to see the actions of this canvas.",
	canvas.CodeProviderUnavailable: "This canvas's provider is not running. Try again later, or call " + ToolClose + ".",
	canvas.CodeTimeout:             "The action may have been done anyway: look at the canvas before you repeat it.",
	canvas.CodeLimitExceeded:       "If too many canvases are open, call " + ToolClose + " for those that are no longer needed (" + ToolListOpen + ").",
	CodeUnreachable:                "The host is not reachable, and the call may have been done anyway: check before you repeat it. A person can start the host with: ahp-canvas serve",
}

func hintFor(e *canvas.Error) string {
	hint := hints[e.Code]
	if strings.Contains(hint, "{candidates}") && len(e.Candidates) == 0 {
		return ""
	}
	place := e.Path
	if place == "" {
		place = "the arguments"
	}
	return strings.NewReplacer(
		"{candidates}", strings.Join(e.Candidates, ", "), "{place}", place, "{schemas}", schemasOf(e.Path),
	).Replace(hint)
}

// schemasOf says where a model finds the schema of an argument: a canvas declares its
// inputs, the tool everything else.
func schemasOf(path string) string {
	if path == "/input" || strings.HasPrefix(path, "/input/") {
		return "the schemas in the result of " + ToolList + " with describe"
	}
	return "the schema of this tool"
}
