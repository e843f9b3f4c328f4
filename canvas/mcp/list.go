package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// DescribeAll is the value of list_canvas_capabilities's argument describe that asks for
// the whole declarations of all canvases. It is for programs: a model should ask for one.
const DescribeAll = "*"

// maxSummary is the limit of a description in the list, in characters.
const maxSummary = 200

// summary is a canvas in the list: enough to choose one. Its members have the names of
// a declaration's.
type summary struct {
	CanvasID    string       `json:"canvasId"`
	ExtensionID string       `json:"extensionId"`
	DisplayName string       `json:"displayName"`
	Description string       `json:"description,omitzero"`
	Actions     []actionName `json:"actions,omitzero"`
}

type actionName struct {
	Name string `json:"name"`
}

func summaryOf(d session.SessionCanvasDeclaration) summary {
	s := summary{CanvasID: d.CanvasID, ExtensionID: d.ExtensionID, DisplayName: d.DisplayName, Description: firstSentence(d.Description)}
	for _, a := range d.Actions {
		s.Actions = append(s.Actions, actionName{a.Name})
	}
	return s
}

// firstSentence returns the beginning of a description, as one line.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if first, _, more := strings.Cut(text, ". "); more {
		text = first + "."
	}
	if runes := []rune(text); len(runes) > maxSummary {
		text = string(runes[:maxSummary-1]) + "…"
	}
	return text
}

func (s *Server) list(_ context.Context, raw ahp.Value) (answer, error) {
	var args capabilitiesArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	all, err := s.service.List(s.session(args.Session))
	if err != nil {
		return answer{}, err
	}
	if args.Describe != "" {
		return describe(all, args.Describe)
	}
	text := "This session has no canvases."
	if len(all) > 0 {
		text = "The canvases that " + ToolOpen + " can show follow, with the names of their actions. Call this tool again with describe (a canvasId) for the schemas and examples of one, before you open it."
	}
	list := []summary{} // never null
	for _, d := range all {
		list = append(list, summaryOf(d))
	}
	return answer{text: text, value: struct {
		Canvases []summary `json:"canvases"`
	}{list}}, nil
}

// describe answers with the whole declarations of a canvas: several if several
// extensions declare it.
func describe(all []session.SessionCanvasDeclaration, canvasID string) (answer, error) {
	found, ids := []session.SessionCanvasDeclaration{}, []string{}
	for _, d := range all {
		ids = append(ids, d.CanvasID)
		if d.CanvasID == canvasID || canvasID == DescribeAll {
			found = append(found, d)
		}
	}
	if len(found) == 0 && canvasID != DescribeAll {
		return answer{}, canvas.Errorf(canvas.CodeNotFound, "no canvas %q is declared; there is %s", canvasID, orNone(ids))
	}
	text := fmt.Sprintf("The description of %s follows: inputSchema is for the input of %s, and the inputSchema of each action for that of %s.", canvasID, ToolOpen, ToolInvoke)
	if canvasID == DescribeAll {
		text = "The descriptions of all canvases follow."
	}
	return answer{text: text, value: struct {
		Canvases []session.SessionCanvasDeclaration `json:"canvases"`
	}{found}}, nil
}

func orNone(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}
