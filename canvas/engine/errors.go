package engine

import (
	"context"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Failures that several files return.
var (
	errTimeout      = canvas.Errorf(canvas.CodeTimeout, "the canvas's provider did not answer in time")
	errUnavailable  = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas's provider is not there now")
	errShuttingDown = canvas.Errorf(canvas.CodeProviderUnavailable, "the host is shutting down")
)

// ended returns why a context is done: the reason with which a call was lost, a
// cause that is a *canvas.Error, canvas_timeout for a deadline, or the context's own
// error for a caller that gave up.
func ended(ctx context.Context) error {
	if c, ok := ctx.(*call); ok {
		if why := c.lost.Load(); why != nil {
			return why
		}
	}
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*canvas.Error](cause); ok {
		return e
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return errTimeout
	}
	return cause
}

// providerError turns what a provider returned into a *canvas.Error.
func providerError(err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok && e.Code != "" {
		return e
	}
	return canvas.Errorf(canvas.CodeHandlerError, "%s", err)
}
