package mcp

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// advices say what a model can do about an error, by its code.
var advices = map[string]string{
	canvas.CodeNotFound:            "Call " + ToolList + " to see which canvases there are.",
	canvas.CodeInstanceNotFound:    "Call " + ToolListOpen + " to see what is open, or " + ToolOpen + " to open it.",
	canvas.CodeSessionNotFound:     "Leave session out for the default session.",
	canvas.CodeAmbiguous:           "Call again with extensionId, one of: {candidates}.",
	canvas.CodeAlreadyOpen:         "Choose another instanceId, or call " + ToolClose + " on this one first.",
	canvas.CodeInputInvalid:        "Correct {place} and call again; what fits is in {schemas}.",
	canvas.CodeNoHandler:           "Call " + ToolList + " to see the actions of this canvas.",
	canvas.CodeProviderUnavailable: "What provides this canvas is not there now. Try again later, or call " + ToolClose + ".",
	canvas.CodeTimeout:             "It may still have happened: look at the canvas before you repeat it.",
	canvas.CodeLimitExceeded:       "Where too many canvases are open, " + ToolClose + " those of no more use (" + ToolListOpen + ").",
	CodeUnreachable:                "The host is away, and what was called may still have happened: look before you repeat it. A person starts a host with: ahp-canvas serve",
}

func advice(e *canvas.Error) string {
	hint := advices[e.Code]
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

// schemasOf says where the schema of an argument is: a canvas declares its inputs,
// and the tool everything else.
func schemasOf(path string) string {
	if path == "/input" || strings.HasPrefix(path, "/input/") {
		return ToolList
	}
	return "the schema of this tool"
}
