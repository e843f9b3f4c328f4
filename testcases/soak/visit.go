package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// visits lets one person come and leave again and again: at every second visit through the
// relay, and every third one ends without a close.
func (s *soak) visits(ctx context.Context, who int) {
	// People do not all come at once.
	if !wait(ctx, time.Duration(who)*(s.stay+s.pause)/time.Duration(s.visitors)) {
		return
	}
	for n := who; ctx.Err() == nil; n++ {
		relayed := n%2 == 1
		err := s.visit(ctx, relayed, n%3 == 0)
		switch {
		case err == nil && relayed:
			s.did("visits through the relay")
		case err == nil:
			s.did("visits")
		case relayed: // the relay was killed during the visit
			s.did("visits cut")
		default:
			s.fail(ctx, "visit", err)
		}
		wait(ctx, s.pause)
	}
}

// visit is one visit: a person follows the board, reads its page, adds a card and leaves.
func (s *soak) visit(ctx context.Context, relayed, vanishes bool) error {
	c, vanish, err := s.people.Connect(ctx, relayed)
	if err != nil {
		return err
	}
	defer c.Close()
	channel, err := follow(ctx, c)
	if err != nil {
		return err
	}
	for end := time.Now().Add(s.stay); time.Now().Before(end); {
		err := c.Message(ctx, channel, map[string]any{
			"sample": "do", "ref": "r", "action": "add_card", "input": map[string]any{"list": "Visitors", "title": "Mine"},
		})
		if err != nil {
			return err
		}
		if !wait(ctx, s.stay/3) {
			return nil
		}
	}
	if vanishes {
		vanish()
		<-c.Disconnected()
	}
	return nil
}

// follow subscribes to the session and to the board, and reads the board's page.
func follow(ctx context.Context, c *client.Client) (channel string, err error) {
	if _, err := c.Subscribe(ctx, defaultSession); err != nil {
		return "", err
	}
	state, _ := c.Session(defaultSession)
	for _, open := range state.OpenCanvases {
		if open.InstanceID != "board" {
			continue
		}
		if _, err := c.Subscribe(ctx, open.Channel); err != nil {
			return "", err
		}
		shown, _ := c.Canvas(open.Channel)
		if shown.URL == nil {
			return "", errors.New("the board has no page")
		}
		page, err := c.ReadResource(ctx, open.Channel, *shown.URL)
		if err == nil && len(page.Data) == 0 {
			err = errors.New("the page of the board is empty")
		}
		return open.Channel, err
	}
	return "", fmt.Errorf("the board is not open among %d canvases", len(state.OpenCanvases))
}

// worker is the canvas "work" of the program that is killed.
func worker() *canvas.Canvas {
	c := canvas.New("work", "Works until its program is killed.")
	canvas.AddAction(c, "do", "Does something.", func(context.Context, *canvas.Handle, struct{}) (any, error) { return "done", nil })
	return c
}
