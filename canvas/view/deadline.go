package view

import (
	"context"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// maxMargin limits the time between beforeDeadline and the deadline.
const maxMargin = 250 * time.Millisecond

// beforeDeadline returns a context that ends shortly before ctx's deadline, so that the
// error still reaches a caller that stops waiting at the deadline.
func beforeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	margin := min(max(time.Until(deadline), 0)/20, maxMargin)
	return context.WithDeadline(ctx, deadline.Add(-margin))
}

// waitError returns the error of a wait that ended: err if it is a *canvas.Error, the
// cause of a canceled ctx, otherwise timeout.
func waitError(ctx context.Context, err, timeout error) error {
	if _, ok := errors.AsType[*canvas.Error](err); ok {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return timeout
}
