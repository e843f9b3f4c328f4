package main

import (
	"context"
	"fmt"
)

// schemas declares canvases whose schemas cost much memory, under many client ids.
var schemas = attack{name: "schemas", run: func(ctx context.Context, t *target, s scale, _ func()) error {
	repeat(ctx, s.of(60), func(ctx context.Context, n int) error { return declare(ctx, t, n) })
	return nil
}}

func declare(ctx context.Context, t *target, n int) error {
	id := fmt.Sprint("abuse-schemas-", n)
	session := "ahp-session:/abuse-schemas"
	c, err := t.join(ctx, id, false)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	_, _ = c.call("createSession", map[string]any{"channel": session})
	if _, err := c.call("subscribe", map[string]any{"channel": session}); err != nil {
		return err
	}
	for k := range 4 {
		if _, err := c.dispatch(session, map[string]any{"type": "session/activeClientSet", "activeClient": map[string]any{
			"clientId": id, "tools": []any{}, "canvasProviders": declarations(id, k),
		}}); err != nil {
			return err
		}
	}
	c.drain()
	return fmt.Errorf("the connection ended")
}

// declarations are canvases near the limits on the cost of schemas: 4,000 parts each,
// and patterns of 200,000 steps in all.
func declarations(id string, k int) (list []any) {
	for n := range 4 {
		properties := map[string]any{}
		for p := range 1_990 {
			properties[fmt.Sprint("p", p)] = map[string]any{"not": true}
		}
		properties["text"] = map[string]any{"pattern": fmt.Sprintf("^%s-%d-%d(a{200}){250}$", id, k, n)}
		list = append(list, map[string]any{
			"canvasId": fmt.Sprint("c", n), "displayName": "Schemas", "description": "Costs memory.",
			"inputSchema": map[string]any{"type": "object", "properties": properties},
		})
	}
	return list
}
