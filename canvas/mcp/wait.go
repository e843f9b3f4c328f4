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
	page, err := s.events(ctx, s.session(args.Session), args.cursor(), s.waitTime(args.Timeout))
	if err != nil {
		return answer{}, err
	}
	page.Events = append([]canvas.Event{}, page.Events...) // never null
	return answer{text: describeEvents(page), value: page}, nil
}

// waitTime returns how long a call waits. A longer timeout is reduced and not refused:
// the result is the same as after a wait without events.
func (s *Server) waitTime(seconds *float64) time.Duration {
	if seconds == nil {
		return s.opts.Wait
	}
	// Compared before it is a Duration, which would overflow.
	return time.Duration(min(*seconds, s.opts.MaxWait.Seconds()) * float64(time.Second))
}

// events calls the service, but returns the available events at once when the server
// is closing.
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

// describeEvents summarizes a page of events, and says how to continue.
func describeEvents(page canvas.EventPage) string {
	var b strings.Builder
	if page.Dropped > 0 {
		fmt.Fprintf(&b, "%d earlier events are lost: look at the canvases for their current state. ", page.Dropped)
	}
	if len(page.Events) == 0 {
		fmt.Fprintf(&b, "Nothing happened. Call again with after %d to continue waiting.", page.Next)
		return b.String()
	}
	count := map[string]int{}
	apps := 0
	for _, e := range page.Events {
		count[e.InstanceID]++
		if ofApp(e.Event) {
			apps++
		}
	}
	var where []string
	for id, n := range count {
		place := "in " + id
		if id == "" { // from an extension or the host
			place = "without a canvas"
		}
		where = append(where, fmt.Sprintf("%d %s", n, place))
	}
	slices.Sort(where)
	fmt.Fprintf(&b, "Events: %s. ", strings.Join(where, ", "))
	if apps > 0 {
		fmt.Fprintf(&b, "%d of them, with a type that begins with %q, come from a program and perhaps not from the person. ", apps, appType)
	}
	fmt.Fprintf(&b, "Call again with after %d for later events.", page.Next)
	return b.String()
}

// appType begins the types of events that apps of other servers raise (package mcpapp).
const appType = "app."

func ofApp(event ahp.Value) bool {
	var e struct {
		Type ahp.Value `json:"type,omitzero"`
	}
	var name string
	return ahp.Unmarshal(event, &e) == nil && ahp.Unmarshal(e.Type, &name) == nil && strings.HasPrefix(name, appType)
}
