package aamcanvas

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Canvases are a host's canvases, as host.Canvases has them.
type Canvases interface {
	// List returns what can be opened in a session.
	List(session string) ([]session.SessionCanvasDeclaration, error)
	// Open opens a canvas, or returns the open one.
	Open(ctx context.Context, args canvas.OpenArgs) (canvas.OpenCanvas, error)
	// Invoke runs an action of an open canvas.
	Invoke(ctx context.Context, args canvas.InvokeArgs) (ahp.Value, error)
}

// Executor runs a site's actions on canvases of a session, where people see them. It
// implements site.Executor and site.Describer.
type Executor struct {
	// Canvases are the host's.
	Canvases Canvases
	// Session is the session's URI.
	Session string
}

// Describe implements site.Describer: the description and schema of the declaration.
func (e Executor) Describe(a site.Action) (description string, input ahp.Value, ok bool) {
	all, err := e.Canvases.List(e.Session)
	if err != nil {
		return "", nil, false
	}
	for _, d := range all {
		if d.ExtensionID != a.Extension || d.CanvasID != a.Canvas {
			continue
		}
		for _, action := range d.Actions {
			if action.Name == a.Action {
				return action.Description, action.InputSchema, true
			}
		}
	}
	return "", nil, false
}

// Execute implements site.Executor. It opens the canvas if it is not open.
func (e Executor) Execute(ctx context.Context, c site.Call) (ahp.Value, error) {
	a := c.Action
	open, err := e.Canvases.Open(ctx, canvas.OpenArgs{Session: e.Session, ExtensionID: a.Extension, CanvasID: a.Canvas, InstanceID: a.Instance})
	if err != nil {
		return nil, failure(err)
	}
	value, err := e.Canvases.Invoke(ctx, canvas.InvokeArgs{Session: e.Session, InstanceID: open.InstanceID, ActionName: a.Action, Input: c.Input})
	if err != nil {
		return nil, failure(err)
	}
	return value, nil
}

// failure is a canvas's error as the caller of a site receives it.
func failure(err error) error {
	e, ok := errors.AsType[*canvas.Error](err)
	if !ok {
		return err
	}
	f := &site.Failure{Message: e.Message}
	switch e.Code {
	case canvas.CodeInputInvalid:
		f.Status, f.Path = http.StatusBadRequest, strings.TrimPrefix(e.Path, "/input")
	case canvas.CodeTimeout:
		f.Status = http.StatusGatewayTimeout
	case canvas.CodeHandlerError:
		f.Status = http.StatusBadGateway
	default:
		f.Status = http.StatusServiceUnavailable
		if !strings.HasPrefix(e.Code, "canvas_") { // the provider's own word
			f.Status, f.Code = http.StatusUnprocessableEntity, e.Code
		}
	}
	return f
}
