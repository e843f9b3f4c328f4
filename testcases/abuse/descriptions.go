package main

import (
	"context"
	"fmt"
	"strings"
)

// descriptions declares canvases with descriptions as large as a message can be, again
// and again: the host would encode them for every change.
var descriptions = attack{name: "descriptions", run: func(ctx context.Context, t *target, _ scale, _ func()) error {
	repeat(ctx, 3, func(ctx context.Context, n int) error { return describe(ctx, t, n) })
	return nil
}}

func describe(ctx context.Context, t *target, n int) error {
	id := fmt.Sprint("abuse-descriptions-", n)
	session := "ahp-session:/abuse-descriptions"
	c, err := t.join(ctx, id, false)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	_, _ = c.call("createSession", map[string]any{"channel": session})
	if _, err := c.call("subscribe", map[string]any{"channel": session}); err != nil {
		return err
	}
	size, err := largest(3_800_000, func(size int) error { return c.publish(session, described(id, size, 0)) })
	if err != nil {
		return err
	}
	for k := 1; ctx.Err() == nil; k++ {
		if err := c.publish(session, described(id, size, k)); err != nil {
			return err
		}
	}
	return nil
}

func described(id string, size, k int) any {
	return map[string]any{"type": "session/activeClientSet", "activeClient": map[string]any{
		"clientId": id, "tools": []any{}, "canvasProviders": []any{map[string]any{
			"canvasId": "long", "displayName": "Long", "description": fmt.Sprint(k, strings.Repeat(" long", size/5)),
		}},
	}}
}
