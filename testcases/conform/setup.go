package conform

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// setup creates the sessions that a case assumes, and disposes of all that the
// case names. It uses its own connection.
type setup struct {
	env      *env
	provider string // of new sessions; "" lets the host choose
	version  string // which its connections offer
	sessions []string
	connects int
}

// given is the session that transcripts assume.
const given = "ahp-session:/default"

func (s *setup) create(ctx context.Context, t *testcases.Transcript) error {
	named := map[string]bool{}
	for _, step := range t.Steps {
		for _, m := range sessionWord.FindAllStringSubmatch(step.Text, -1) {
			named[m[1]] = true
		}
	}
	// A recording lists the other sessions that existed.
	given := strings.Fields("default " + t.Meta["sessions"])
	for _, name := range given {
		named[name] = true
	}
	s.sessions = slices.Sorted(maps.Keys(named))
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.leave()
	for _, name := range given {
		params := map[string]any{"channel": "ahp-session:/" + name}
		if s.provider != "" {
			params["provider"] = s.provider
		}
		if _, err := c.call("createSession", params); err != nil {
			return fmt.Errorf("cannot create the session of the case: %w", err)
		}
	}
	return nil
}

// dispose disposes of the case's sessions. Errors are ignored: some sessions
// were never created or are already gone.
func (s *setup) dispose(ctx context.Context) {
	if len(s.sessions) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.env.opts.Timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return
	}
	defer c.leave()
	for _, name := range s.sessions {
		_, _ = c.call("disposeSession", map[string]any{"channel": "ahp-session:/" + name})
	}
}

// titleStep begins a host step in which the host changes a session's title.
const titleStep = "title "

func isTitleStep(s testcases.Step) bool {
	return s.Op == testcases.OpHost && strings.HasPrefix(s.Text, titleStep)
}

// hand is the id of the client that changes a title in the host's place. Its origin is
// removed from the frames of the case.
const hand = "hand"

// title changes a session's title as the hand, and returns when the host has done so.
func (s *setup) title(ctx context.Context, uri, title string) error {
	c, err := s.connectAs(ctx, hand)
	if err != nil {
		return err
	}
	defer c.leave()
	if _, err := c.call("subscribe", map[string]any{"channel": uri}); err != nil {
		return err // hosts refuse actions of clients that are not subscribed
	}
	frame := ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "method": "dispatchAction", "params": map[string]any{
		"channel": uri, "clientSeq": 1, "action": map[string]any{"type": "session/titleChanged", "title": title},
	}})
	if err := c.conn.Send(frame); err != nil {
		return err
	}
	_, err = c.call("ping", map[string]any{"channel": ahp.RootURI}) // answered in order
	return err
}

// caller is a connection that sends requests and waits for the responses.
type caller struct {
	env  *env
	conn *conn
	id   int
}

// connect makes a new connection as a client that has no other one: a host might not have
// noticed yet that an earlier one ended.
func (s *setup) connect(ctx context.Context) (*caller, error) {
	s.connects++
	return s.connectAs(ctx, fmt.Sprintf("stage%d", s.connects))
}

func (s *setup) connectAs(ctx context.Context, id string) (*caller, error) {
	e := &env{opts: s.env.opts, ns: s.env.ns}
	conn, err := e.dial(ctx, id, e.opts.Token)
	if err != nil {
		return nil, err
	}
	c := &caller{env: e, conn: conn}
	if _, err := c.call("initialize", map[string]any{
		"channel": ahp.RootURI, "clientId": id, "protocolVersions": []string{s.version},
		"capabilities": map[string]any{ahp.CapabilityCanvas: map[string]any{}},
	}); err != nil {
		c.leave()
		return nil, err
	}
	return c, nil
}

func (c *caller) leave() { c.env.end() }

// call sends a request and returns its result. It skips all other messages.
func (c *caller) call(method string, params any) (ahp.Value, error) {
	c.id++
	id := fmt.Sprint(c.id)
	frame := ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err := c.conn.Send(frame); err != nil {
		return nil, err
	}
	for end := time.Now().Add(c.env.opts.Timeout); time.Now().Before(end); {
		frame, err := c.conn.Next()
		if err != nil {
			return nil, fmt.Errorf("no response to %s: %w", method, err)
		}
		var answer struct {
			ID     ahp.Value  `json:"id,omitzero"`
			Method string     `json:"method,omitzero"`
			Result ahp.Value  `json:"result,omitzero"`
			Error  *ahp.Error `json:"error,omitzero"`
		}
		if err := ahp.Unmarshal(frame, &answer); err != nil {
			return nil, fmt.Errorf("the response to %s is not JSON-RPC: %w", method, err)
		}
		switch {
		case answer.Method != "" || strings.TrimSpace(string(answer.ID)) != id:
		case answer.Error != nil:
			return nil, fmt.Errorf("%s: %w", method, answer.Error)
		default:
			return answer.Result, nil
		}
	}
	return nil, fmt.Errorf("no response to %s", method)
}
