package main

import (
	"context"
	"fmt"
)

// fanOut changes the title of one session from eight connections, as fast as the host
// takes it. All of them receive all changes, and so does every list of sessions.
var fanOut = attack{name: "fan-out", run: func(ctx context.Context, t *target, _ scale, _ func()) error {
	repeat(ctx, 8, func(ctx context.Context, n int) error { return changeTitles(ctx, t, n) })
	return nil
}}

func changeTitles(ctx context.Context, t *target, n int) error {
	session := "ahp-session:/abuse-fan-out"
	c, err := t.join(ctx, fmt.Sprint("abuse-fan-out-", n), false, "ahp-root://")
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	_, _ = c.call("createSession", map[string]any{"channel": session})
	if _, err := c.call("subscribe", map[string]any{"channel": session}); err != nil {
		return err
	}
	c.wg.Go(c.drain)
	for k := 0; ctx.Err() == nil; k++ {
		if _, err := c.dispatch(session, map[string]any{"type": "session/titleChanged", "title": fmt.Sprint(n, "-", k)}); err != nil {
			return err
		}
	}
	return nil
}
