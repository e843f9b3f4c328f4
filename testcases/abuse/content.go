package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// content reads large files of an open canvas, and hardly takes the answers. Meanwhile
// readers read the same canvas.
var content = attack{name: "content", visit: readers, run: func(ctx context.Context, t *target, s scale, begun func()) error {
	canvas, err := t.openCanvas(ctx, largeName)
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		repeat(ctx, s.of(100), func(ctx context.Context, n int) error { return readSlowly(ctx, t, canvas, n) })
	})
	wait(ctx, 300*time.Millisecond)
	begun()
	reading.Wait()
	return nil
}}

// readers are ten people who read a canvas's page and one of its large files.
func readers(ctx context.Context, t *target) error {
	canvas, err := t.openCanvas(ctx, largeName)
	if err != nil {
		return err
	}
	for n := range 10 {
		t.met(ctx, "readers", readAll(ctx, t, canvas, n))
	}
	return nil
}

// readAll reads the page and a large file, whose blob is longer than the file.
func readAll(ctx context.Context, t *target, canvas openCanvas, n int) error {
	c, err := t.join(ctx, fmt.Sprint("abuse-reader-", n), false, canvas.Channel)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	for name, least := range map[string]int{"index.html": 1, fmt.Sprintf("%d.bin", n%largeCount): largeSize} {
		result, err := c.call("canvasReadResource", map[string]any{
			"channel": canvas.Channel, "uri": fmt.Sprintf("ahp-canvas-content:/%s/%s", canvas.InstanceID, name),
		})
		if err == nil && len(result) < least {
			err = fmt.Errorf("%s: %d bytes", name, len(result))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openCanvas is an entry of a session's catalog.
type openCanvas struct{ InstanceID, Channel string }

// openCanvas returns an open canvas of the host that was started here.
func (t *target) openCanvas(ctx context.Context, id string) (found openCanvas, err error) {
	const session = "ahp-session:/default"
	c, err := t.join(ctx, "abuse-content", false)
	if err != nil {
		return found, err
	}
	defer c.close()
	raw, err := c.call("subscribe", map[string]any{"channel": session})
	if err != nil {
		return found, err
	}
	var result struct {
		Snapshot struct {
			State struct{ OpenCanvases []openCanvas }
		}
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return found, err
	}
	for _, c := range result.Snapshot.State.OpenCanvases {
		if c.InstanceID == id {
			return c, nil
		}
	}
	return found, fmt.Errorf("the canvas %q is not open", id)
}

func readSlowly(ctx context.Context, t *target, canvas openCanvas, n int) error {
	c, err := t.join(ctx, fmt.Sprint("abuse-content-", n), true, canvas.Channel)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	for k := range 2 {
		_, err := c.request("canvasReadResource", map[string]any{
			"channel": canvas.Channel, "uri": fmt.Sprintf("ahp-canvas-content:/%s/%d.bin", canvas.InstanceID, (n+k)%largeCount),
		})
		if err != nil {
			return err
		}
	}
	c.trickle(ctx)
	return errors.New("the connection ended")
}
