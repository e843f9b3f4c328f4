package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

func (s *Server) wait(ctx context.Context, raw ahp.Value) (answer, error) {
	var args waitArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	if err := args.check(); err != nil {
		return answer{}, err
	}
	page, err := s.events(ctx, s.session(args.Session), args.After, s.patience(args.Timeout))
	if err != nil {
		return answer{}, err
	}
	page.Events = append([]canvas.Event{}, page.Events...) // never null
	return answer{eventWords(page), page}, nil
}

// patience is how long a call waits. A longer time is cut and not refused: the
// answer is the same as that of a wait in which nothing happened.
func (s *Server) patience(seconds *float64) time.Duration {
	if seconds == nil {
		return s.opts.Wait
	}
	// Compared before it is a Duration, which would overflow.
	return time.Duration(min(*seconds, s.opts.MaxWait.Seconds()) * float64(time.Second))
}

// events waits like the service. A door that closes does not wait for something
// to happen: it answers with what is there.
func (s *Server) events(ctx context.Context, session string, after int64, timeout time.Duration) (canvas.EventPage, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	page, err := s.service.Events(waiting, session, after, timeout)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return s.service.Events(ctx, session, after, 0)
	}
	return page, err
}

// eventWords says what came and how to go on.
func eventWords(page canvas.EventPage) string {
	var b strings.Builder
	if page.Dropped > 0 {
		fmt.Fprintf(&b, "%d earlier events are lost: look at the canvases for how things stand. ", page.Dropped)
	}
	if len(page.Events) == 0 {
		fmt.Fprintf(&b, "Nothing happened in the meantime. Call again with after %d to go on waiting.", page.Next)
		return b.String()
	}
	count := map[string]int{}
	for _, e := range page.Events {
		count[e.InstanceID]++
	}
	var where []string
	for id, n := range count {
		place := "in " + id
		if id == "" { // of an extension, or of the host
			place = "of no canvas in particular"
		}
		where = append(where, fmt.Sprintf("%d %s", n, place))
	}
	slices.Sort(where)
	fmt.Fprintf(&b, "Events: %s. Call again with after %d for what comes next.", strings.Join(where, ", "), page.Next)
	return b.String()
}
