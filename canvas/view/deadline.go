package view

import (
	"context"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// maxMargin is the most that a call gives up before its deadline.
const maxMargin = 250 * time.Millisecond

// beforeDeadline ends a moment before ctx does, so that a caller who stops
// listening at his deadline still hears why.
func beforeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	margin := min(max(time.Until(deadline), 0)/20, maxMargin)
	return context.WithDeadline(ctx, deadline.Add(-margin))
}

// orTimeout says why waiting ended: an *canvas.Error stays, a caller who is gone
// gets his own cause, and else the time was over.
func orTimeout(ctx context.Context, err, timeout error) error {
	if _, ok := errors.AsType[*canvas.Error](err); ok {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return timeout
}
