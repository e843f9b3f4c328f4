package a2uicanvas

import (
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// refusedStatus is the card's line after messages of which some were refused.
func refusedStatus(refused int, otherwise string) string {
	switch refused {
	case 0:
		return otherwise
	case 1:
		return "1 message was refused"
	}
	return fmt.Sprintf("%d messages were refused", refused)
}

// fitting returns as many failures as an answer has space for.
func fitting(all []a2ui.Failure) []a2ui.Failure {
	out, size := []a2ui.Failure{}, 0
	for _, f := range all {
		if size += len(ahp.MustMarshal(f)); len(out) == maxErrors || size > errorsBytes/2 {
			break
		}
		out = append(out, f)
	}
	return out
}

// resultError is the error of a list of which nothing could be applied, nil if something
// was or the list is empty.
func resultError(r a2ui.Result, messages int) error {
	if r.Applied > 0 || messages == 0 || len(r.Errors) == 0 {
		return nil
	}
	first := r.Errors[0]
	var b strings.Builder
	for n, f := range r.Errors[:min(len(r.Errors), maxErrorEvents)] {
		if n > 0 {
			fmt.Fprintf(&b, "; message %d: ", f.Index)
		}
		b.WriteString(f.Message)
	}
	e := canvas.Errorf(first.Code, "%s", b.String())
	e.Path = fmt.Sprintf("/input/messages/%d%s", first.Index, first.Path)
	e.Details = details(r.Errors)
	return e
}

// details returns as many failures as the details of an error have space for.
func details(all []a2ui.Failure) ahp.Value {
	for n := len(all); n > 0; n-- {
		raw := ahp.MustMarshal(struct {
			Errors []a2ui.Failure `json:"errors"`
		}{all[:n]})
		if len(raw) <= canvas.MaxDetails {
			return raw
		}
	}
	return nil
}

// inputError returns an error of the core as one for agents.
func inputError(err error, at string) error {
	e, ok := err.(*a2ui.Error)
	if !ok {
		return err
	}
	out := canvas.Errorf(e.Code, "%s", e.Message)
	out.Path = at + e.Path
	return out
}

func notFound(surfaceID string) error {
	e := canvas.Errorf(a2ui.CodeSurfaceNotFound, "there is no surface %q", clip(surfaceID))
	e.Path = "/input/surfaceId"
	return e
}
