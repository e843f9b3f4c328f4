package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
)

// bookmarks connects as ever new clients, each subscribed to many sessions with long
// names, and leaves: the host remembers what they were subscribed to.
var bookmarks = attack{name: "bookmarks", run: func(ctx context.Context, t *target, s scale, _ func()) error {
	sessions, err := t.longNames(ctx, s.of(900))
	if err != nil {
		return err
	}
	var clients atomic.Int64
	repeat(ctx, 4, func(ctx context.Context, _ int) error {
		c, err := t.join(ctx, fmt.Sprintf("abuse-bookmarks-%d%s", clients.Add(1), strings.Repeat("x", 200)), false, sessions...)
		if err != nil {
			return err
		}
		c.close()
		return nil
	})
	return nil
}}

// longNames creates sessions whose names are long.
func (t *target) longNames(ctx context.Context, n int) (sessions []string, err error) {
	c, err := t.join(ctx, "abuse-bookmarks", false)
	if err != nil {
		return nil, err
	}
	defer c.closeWith(ctx)()
	for k := range n {
		session := fmt.Sprintf("ahp-session:/abuse-bookmarks-%d-%s", k, strings.Repeat("n", 200))
		if _, err := c.call("createSession", map[string]any{"channel": session}); err != nil {
			break // the host has enough
		}
		sessions = append(sessions, session)
	}
	return sessions, nil
}
