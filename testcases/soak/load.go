package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// world is what the load works with: programs, or a host in the process of a test.
type world struct {
	agent  agent
	people people
	kills  kills
	// probe connects the client that measures.
	probe func(ctx context.Context) (*client.Client, error)
}

// agent does what an agent does, as canvas/host does it.
type agent interface {
	Open(ctx context.Context, canvasID, instanceID string) error
	Invoke(ctx context.Context, instanceID, action string, input any) (ahp.Value, error)
	Close(ctx context.Context, instanceID string) error
}

// people connects people.
type people interface {
	// Connect connects one, through the relay if relayed. vanish drops the connection
	// without a word.
	Connect(ctx context.Context, relayed bool) (c *client.Client, vanish func(), err error)
}

// kills ends programs without warning.
type kills interface {
	// Provide starts a program that provides the canvas "work". kill ends it, and returns
	// when it has ended.
	Provide(ctx context.Context) (kill func(), err error)
	// Relay kills the relay, and starts it again at its address.
	Relay(ctx context.Context) error
}

// defaultSession is the session of the load.
const defaultSession = "ahp-session:/default"

// plan is how often the load does what.
type plan struct {
	lasts    time.Duration
	sample   time.Duration // between measurements
	call     time.Duration // between calls of the agent
	change   time.Duration // between changes of the title; 0 for none
	stay     time.Duration // how long people stay
	pause    time.Duration // how long they stay away
	visitors int           // at a time
	crash    time.Duration // between kills of the provider
	restart  time.Duration // between kills of the relay
	steady   bool          // long enough for slopes to say something
	table    string        // file for all measurements; "" for none
}

// soak is a run of the load.
type soak struct {
	world
	plan

	mu     sync.Mutex
	took   []time.Duration // from the probe, in the order of their dispatches
	counts map[string]int  // what was done, by name
	failed []string        // what must not fail; at most maxFailed are kept
}

const maxFailed = 20

// recovery is how long something may fail after a kill.
const recovery = time.Minute

func (s *soak) did(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// fail records a failure, unless the run has ended. A connection can meet the end of the
// run's time before ctx is canceled.
func (s *soak) fail(ctx context.Context, what string, err error) {
	if end, ok := ctx.Deadline(); err == nil || ctx.Err() != nil || ok && !time.Now().Before(end) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts["failed"]++; len(s.failed) < maxFailed {
		s.failed = append(s.failed, fmt.Sprintf("%s: %v", what, err))
	}
}

// run runs the load for as long as the plan says, and returns when all of it has ended.
func (s *soak) run(ctx context.Context, sample func()) {
	ctx, cancel := context.WithTimeout(ctx, s.lasts)
	defer cancel()
	s.counts = map[string]int{}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { repeat(ctx, s.call, s.work()) })
	for n := range s.visitors {
		wg.Go(func() { s.visits(ctx, n) })
	}
	wg.Go(func() { s.crashes(ctx) })
	wg.Go(func() { repeat(ctx, s.restart, s.restarts) })
	if s.change > 0 {
		wg.Go(func() { s.fail(ctx, "probe", s.measure(ctx)) })
	}
	repeat(ctx, s.sample, func(context.Context) { sample() })
}

// repeat calls fn at a fixed rate until ctx is canceled, and not twice at a time.
func repeat(ctx context.Context, every time.Duration, fn func(context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			fn(ctx)
		}
	}
}

// wait waits, and returns false if ctx was canceled before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// eventually calls fn until it succeeds, for as long as something may fail after a kill.
func eventually(ctx context.Context, fn func() error) (err error) {
	for end := time.Now().Add(recovery); ; {
		if err = fn(); err == nil || time.Now().After(end) || !wait(ctx, 100*time.Millisecond) {
			return err
		}
	}
}

// work returns what the agent does at each step: it fills a board whose size stays the same,
// and at every tenth step opens another canvas and closes it.
func (s *soak) work() func(context.Context) {
	n, cards := 0, []string(nil)
	return func(ctx context.Context) {
		n++
		var err error
		switch {
		case n%10 == 0:
			err = s.another(ctx)
		case n%25 == 1:
			_, err = s.agent.Invoke(ctx, "board", "remove_list", map[string]any{"list": "Visitors"})
			if n == 1 {
				err = nil // the list is new
			}
			if err == nil {
				_, err = s.agent.Invoke(ctx, "board", "add_list", map[string]any{"title": "Visitors"})
			}
		case len(cards) >= 20:
			_, err = s.agent.Invoke(ctx, "board", "remove_card", map[string]any{"card": cards[0]})
			cards = cards[1:]
		default:
			var id string
			if id, err = s.addCard(ctx, fmt.Sprint("Card ", n)); err == nil {
				cards = append(cards, id)
			}
		}
		s.did("calls")
		s.fail(ctx, "agent", err)
	}
}

func (s *soak) addCard(ctx context.Context, title string) (id string, err error) {
	value, err := s.agent.Invoke(ctx, "board", "add_card", map[string]any{"list": "To do", "title": title})
	if err != nil {
		return "", err
	}
	var made struct {
		Card struct {
			ID string `json:"id"`
		} `json:"card"`
	}
	err = ahp.Unmarshal(value, &made)
	return made.Card.ID, err
}

// another opens a canvas, uses it and closes it.
func (s *soak) another(ctx context.Context) error {
	if err := s.agent.Open(ctx, "board", "another"); err != nil {
		return err
	}
	_, err := s.agent.Invoke(ctx, "another", "add_list", map[string]any{"title": "Ideas"})
	return errors.Join(err, s.agent.Close(ctx, "another"))
}

// crashes kills the provider of "work" again and again. Each time, its canvas works again
// once the next program provides it.
func (s *soak) crashes(ctx context.Context) {
	kill, err := s.kills.Provide(ctx)
	if err != nil {
		s.fail(ctx, "provider", err)
		return
	}
	defer func() { kill() }()
	s.fail(ctx, "provider", eventually(ctx, func() error { return s.agent.Open(ctx, "work", "work") }))
	repeat(ctx, s.crash, func(ctx context.Context) {
		kill()
		kill = func() {}
		next, err := s.kills.Provide(ctx)
		if err != nil {
			s.fail(ctx, "provider", err)
			return
		}
		kill = next
		s.did("crashes")
		s.fail(ctx, "provider", eventually(ctx, func() error {
			_, err := s.agent.Invoke(ctx, "work", "do", map[string]any{})
			return err
		}))
	})
}

// restarts kills the relay, after which people come through it again.
func (s *soak) restarts(ctx context.Context) {
	if err := s.kills.Relay(ctx); err != nil {
		s.fail(ctx, "relay", err)
		return
	}
	s.did("restarts")
	s.fail(ctx, "relay", eventually(ctx, func() error {
		c, _, err := s.people.Connect(ctx, true)
		if err == nil {
			c.Close()
		}
		return err
	}))
}

// measure changes a title at a fixed rate, whether or not earlier changes have returned,
// and measures the time to each echo.
func (s *soak) measure(ctx context.Context) error {
	c, err := s.probe(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Subscribe(ctx, defaultSession); err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	n := 0
	repeat(ctx, s.change, func(ctx context.Context) {
		n++
		began := time.Now()
		sent, err := c.DispatchAsync(defaultSession, session.TitleChanged{Title: fmt.Sprint("Title ", n)})
		if err != nil {
			s.fail(ctx, "probe", err)
			return
		}
		wg.Go(func() {
			if err := sent.Wait(ctx); err != nil {
				s.fail(ctx, "probe", err)
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.took = append(s.took, time.Since(began))
		})
	})
	return nil
}
