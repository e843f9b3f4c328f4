package main

import (
	"context"
	"fmt"
	"strings"
)

// snapshots asks for snapshots of large states and for refusals of large actions, and
// hardly reads. Between the requests the state changes, so that each snapshot is
// another one.
var snapshots = attack{name: "snapshots", run: func(ctx context.Context, t *target, s scale, _ func()) error {
	repeat(ctx, max(4, s.of(16)), func(ctx context.Context, n int) error { return askForSnapshots(ctx, t, n) })
	return nil
}}

func askForSnapshots(ctx context.Context, t *target, n int) error {
	id := fmt.Sprint("abuse-snapshots-", n)
	session := "ahp-session:/" + id
	c, err := t.join(ctx, id, true)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	_, _ = c.call("createSession", map[string]any{"channel": session})
	if _, err := c.call("subscribe", map[string]any{"channel": session}); err != nil {
		return err
	}
	size, err := largest(3_900_000, func(size int) error {
		return c.publish(session, clientEntry(id, size, 0))
	})
	if err != nil {
		return err
	}
	c.wg.Go(func() { c.trickle(ctx) })
	for k := 0; ctx.Err() == nil; k++ {
		if _, err := c.dispatch(session, clientEntry(id, size, k)); err != nil {
			return err
		}
		if _, err := c.request("subscribe", map[string]any{"channel": session}); err != nil {
			return err
		}
		if _, err := c.dispatch("ahp-session:/default", clientEntry(id, size, k)); err != nil { // not subscribed: refused
			return err
		}
	}
	return nil
}

// clientEntry is the entry of a client with members that the host only keeps.
func clientEntry(id string, size, n int) any {
	return map[string]any{"type": "session/activeClientSet", "activeClient": map[string]any{
		"clientId": id, "tools": []any{}, "customizations": []any{n, strings.Repeat("x", size)},
	}}
}

// largest halves a size until try succeeds, and returns it. The error is the last one.
func largest(size int, try func(size int) error) (int, error) {
	for {
		err := try(size)
		if err == nil || size < 1024 {
			return size, err
		}
		size /= 2
	}
}
