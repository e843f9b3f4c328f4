package programtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// outcome is what a client knows about a thing after a request.
type outcome int

const (
	absent  outcome = iota // its end was confirmed, or it never existed
	present                // its creation was confirmed
	unknown                // there was no answer
)

// ledger is what a host has confirmed, over all its runs.
type ledger struct {
	mu       sync.Mutex
	boards   map[string]outcome // by instance id
	sessions map[string]outcome // by URI
	cards    map[string][]string
	asked    map[string]outcome // without an answer, in this run: the outcome of success
	answered int                // over all runs
	silent   int
}

func newLedger() *ledger {
	return &ledger{boards: map[string]outcome{}, sessions: map[string]outcome{}, cards: map[string][]string{}, asked: map[string]outcome{}}
}

// ask sets the outcome to unknown, sends the request, and sets it to after if it is
// answered. It reports whether it was.
func (l *ledger) ask(where map[string]outcome, id string, after outcome, do func() error) bool {
	l.mu.Lock()
	where[id] = unknown
	l.mu.Unlock()
	err := do()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.silent++
		l.asked[id] = after
		return false
	}
	where[id] = after
	l.answered++
	return true
}

// worker is an agent or a client that sends requests until the host is gone. Only one
// goroutine uses it.
type worker struct {
	ledger *ledger
	name   string
	door   *mcp.Client
	client *client.Client
	rnd    *rand.Rand

	boards, sessions []string // present
	n                int
}

// work runs workers until none gets an answer, and calls end meanwhile.
func (l *ledger) work(t *testing.T, s *server, run int, end func()) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for n := range 4 {
		door, err := mcp.Dial(ctx, mcp.ClientOptions{URL: s.MCP, Token: s.AgentToken})
		if err != nil {
			t.Fatal(err)
		}
		person, err := client.Dial(ctx, s.AHP, client.Options{Token: s.AgentToken})
		if err != nil {
			t.Fatal(err)
		}
		defer person.Close()
		name := fmt.Sprintf("l%dw%d", run, n)
		wg.Go(func() {
			w := &worker{ledger: l, name: name, door: door, rnd: rand.New(rand.NewPCG(uint64(run), uint64(2*n)))}
			for w.boardStep(ctx) && w.cardStep(ctx) {
			}
		})
		wg.Go(func() {
			w := &worker{ledger: l, name: name, client: person, rnd: rand.New(rand.NewPCG(uint64(run), uint64(2*n+1)))}
			for w.sessionStep(ctx) {
			}
		})
	}
	end()
	wg.Wait()
}

func (w *worker) tool(ctx context.Context, name string, args any) error {
	_, err := w.door.Call(ctx, name, ahp.MustMarshal(args))
	return err
}

func (w *worker) boardStep(ctx context.Context) bool {
	if len(w.boards) > 5 || len(w.boards) > 0 && w.rnd.IntN(3) == 0 {
		id := w.boards[0]
		w.boards = w.boards[1:]
		return w.ledger.ask(w.ledger.boards, id, absent, func() error {
			return w.tool(ctx, "close_canvas", map[string]any{"instanceId": id})
		})
	}
	w.n++
	id := fmt.Sprintf("%s-%d", w.name, w.n)
	w.boards = append(w.boards, id)
	return w.ledger.ask(w.ledger.boards, id, present, func() error {
		return w.tool(ctx, "open_canvas", map[string]any{"canvasId": "board", "instanceId": id, "input": map[string]any{"title": id, "lists": []string{"To do"}}})
	})
}

// cardStep lets a board save a card, and records the card only if the call is answered.
func (w *worker) cardStep(ctx context.Context) bool {
	if len(w.boards) == 0 {
		return true
	}
	id := w.boards[w.rnd.IntN(len(w.boards))]
	w.n++
	card := fmt.Sprintf("card-%d.", w.n)
	err := w.tool(ctx, "invoke_canvas_action", map[string]any{"instanceId": id, "actionName": "add_card", "input": map[string]any{"list": "To do", "title": card}})
	if err != nil {
		return false
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.answered++
	w.ledger.cards[id] = append(w.ledger.cards[id], card)
	return true
}

func (w *worker) sessionStep(ctx context.Context) bool {
	if len(w.sessions) > 5 || len(w.sessions) > 0 && w.rnd.IntN(3) == 0 {
		uri := w.sessions[0]
		w.sessions = w.sessions[1:]
		return w.ledger.ask(w.ledger.sessions, uri, absent, func() error {
			_, err := client.Call(ctx, w.client, session.DisposeSession, ahp.ChannelParams{Channel: uri})
			return err
		})
	}
	w.n++
	uri := fmt.Sprintf("ahp-session:/%s-s%d", w.name, w.n)
	w.sessions = append(w.sessions, uri)
	return w.ledger.ask(w.ledger.sessions, uri, present, func() error {
		_, err := client.Call(ctx, w.client, session.CreateSession, session.CreateSessionParams{Channel: uri})
		return err
	})
}

// audit compares a host of the next run with what was confirmed in the runs before,
// resolves unknown outcomes, and returns what is wrong.
func (l *ledger) audit(t *testing.T, s *server) (wrong []string) {
	t.Helper()
	door, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: s.MCP, Token: s.AgentToken})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	var open struct {
		OpenCanvases []struct {
			InstanceID string `json:"instanceId"`
		} `json:"openCanvases"`
	}
	l.read(t, door, "list_open_canvases", ahp.Value(`{}`), &open)
	var boards []string
	for _, c := range open.OpenCanvases {
		if c.InstanceID != "board" { // what serve opens itself
			boards = append(boards, c.InstanceID)
		}
	}
	wrong = append(wrong, compare("board", l.boards, boards)...)
	wrong = append(wrong, compare("session", l.sessions, l.sessionsOf(t, s))...)
	for _, id := range boards {
		var value struct {
			Value ahp.Value `json:"value"`
		}
		// Opening an open canvas waits until the host has reopened it.
		l.read(t, door, "open_canvas", ahp.MustMarshal(map[string]any{"canvasId": "board", "instanceId": id}), &struct{ _ int }{})
		l.read(t, door, "invoke_canvas_action", ahp.MustMarshal(map[string]any{"instanceId": id, "actionName": "get_board"}), &value)
		for _, card := range l.cards[id] {
			if !strings.Contains(string(value.Value), card) {
				wrong = append(wrong, "saved and lost: "+card+" of board "+id)
			}
		}
	}
	return wrong
}

// compare returns which confirmed outcomes are not true, and resolves the unknown ones.
func compare(what string, known map[string]outcome, have []string) (wrong []string) {
	for id, state := range known {
		is := slices.Contains(have, id)
		switch {
		case state == present && !is:
			wrong = append(wrong, fmt.Sprintf("%s %s was created and is lost", what, id))
		case state == absent && is:
			wrong = append(wrong, fmt.Sprintf("%s %s was closed and is open again", what, id))
		}
		known[id] = absent
		if is {
			known[id] = present
		}
	}
	return wrong
}

func (l *ledger) read(t *testing.T, door *mcp.Client, tool string, args ahp.Value, into any) {
	t.Helper()
	raw, err := door.Call(t.Context(), tool, args)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	if err := unmarshalLoosely(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func (l *ledger) sessionsOf(t *testing.T, s *server) (uris []string) {
	t.Helper()
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.AgentToken})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := client.Call(t.Context(), c, session.ListSessions, session.ListSessionsParams{Channel: ahp.RootURI})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		uris = append(uris, item.Resource)
	}
	return uris
}
