package main

import (
	"context"
	"fmt"
	"strings"
)

// titles creates sessions with titles as large as a message can be.
var titles = attack{name: "titles", run: func(ctx context.Context, t *target, s scale, _ func()) error {
	repeat(ctx, 8, func(ctx context.Context, n int) error { return nameSessions(ctx, t, n, s.of(720)/8+1) })
	return nil
}}

func nameSessions(ctx context.Context, t *target, n, sessions int) error {
	c, err := t.join(ctx, fmt.Sprint("abuse-titles-", n), false)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	c.wg.Go(c.drain)
	for k := range sessions {
		session := fmt.Sprintf("ahp-session:/abuse-titles-%d-%d", n, k)
		if _, err := c.request("createSession", map[string]any{"channel": session}); err != nil {
			return err
		}
		if _, err := c.request("subscribe", map[string]any{"channel": session}); err != nil {
			return err
		}
		if _, err := c.dispatch(session, map[string]any{
			"type": "session/titleChanged", "title": strings.Repeat("long ", 780_000-k),
		}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}
