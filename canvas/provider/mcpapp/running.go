package mcpapp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// steady is how long a connection lasts before the backoff starts over.
const steady = 10 * time.Second

// maxCalls is the limit of pending calls to one server.
const maxCalls = 256

// Running is a server of a Runner: a canvas.Provider for all sessions. It has one
// connection at a time.
type Running struct {
	runner  *Runner
	server  Server
	secrets []string // never in errors
	reg     canvas.Registration
	log     *process.Log
	started chan struct{} // closed after the first connection is up or has failed
	done    chan struct{} // closed when run has ended
	slots   chan struct{} // one element for each pending call

	mu        sync.Mutex
	up        *conn         // nil while there is no connection
	fail      error         // why up is nil; nil while a connection is being made
	changed   chan struct{} // closed, and replaced, when up or fail changes
	startFail error         // why the first start failed
	begun     bool          // started is closed
	known     bool          // the server's tools have been declared at least once
	calls     []callNote    // the newest calls, for the panel
	open      map[*instance]bool
}

// Name returns the name under which the server was added.
func (g *Running) Name() string { return g.server.Name }

// WaitStarted waits until the server has listed its tools, or has failed to. It returns the
// failure, with the last words of a program. The runner keeps retrying after it.
func (g *Running) WaitStarted(ctx context.Context) error {
	select {
	case <-g.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.startFail != nil {
		return g.unavailable(g.startFail)
	}
	return nil
}

// unavailable returns the error for what needs a server that does not run.
func (g *Running) unavailable(why error) error {
	if e, ok := errors.AsType[*canvas.Error](why); ok {
		return e
	}
	return canvas.Errorf(canvas.CodeProviderUnavailable, "%s does not run: %s", g.server.Name, g.redact(why.Error()))
}

// redact removes the server's secrets from a text.
func (g *Running) redact(text string) string {
	for _, s := range g.secrets {
		text = strings.ReplaceAll(text, s, "…")
	}
	return text
}

// run is the server's goroutine: it makes one connection after the other.
func (g *Running) run() {
	defer close(g.done)
	ctx := g.runner.ctx
	process.Restart(ctx, g.runner.opts.Backoff(), steady, func() bool {
		err := g.runOnce(ctx)
		if ctx.Err() != nil {
			return false
		}
		g.log.Note("%s", g.redact(err.Error()))
		g.setState(nil, err)
		g.markStarted(err)
		return true
	})
	if ctx.Err() != nil {
		g.setState(nil, errEnding)
		g.markStarted(errEnding)
	}
}

// runOnce makes a connection and returns why it ended.
func (g *Running) runOnce(ctx context.Context) error {
	c, err := g.connect(ctx)
	if err != nil {
		return err
	}
	if err := g.becomeReady(c); err != nil {
		c.close()
		return err
	}
	select {
	case <-c.lost:
		g.log.Note("the connection was lost")
	case <-ctx.Done():
	}
	g.setState(nil, nil)
	if ctx.Err() == nil { // otherwise the registration is closed
		g.reg.SetReachable(false)
	}
	return c.close()
}

// becomeReady declares what the server lists, and opens its stale canvases again.
func (g *Running) becomeReady(c *conn) error {
	g.mu.Lock()
	g.known = true
	g.mu.Unlock()
	if err := g.declare(c); err != nil {
		return err
	}
	g.setState(c, nil)
	g.reg.SetReachable(true)
	g.markStarted(nil)
	return nil
}

// declare replaces the declarations by those of a connection's tools.
func (g *Running) declare(c *conn) error {
	set, notes := g.declarations(c.tools())
	for _, n := range notes {
		g.log.Note("%s", n)
	}
	g.leaveUndeclared(c.ctx, set)
	return g.reg.Set(set...)
}

// leaveUndeclared asks the pages of canvases that are no longer declared to leave, side by
// side: their canvases are stale once the declarations are replaced.
func (g *Running) leaveUndeclared(ctx context.Context, set []canvas.Declaration) {
	g.mu.Lock()
	var leaving []*instance
	for i := range g.open {
		if !slices.ContainsFunc(set, func(d canvas.Declaration) bool { return d.CanvasID == i.canvasID }) {
			leaving = append(leaving, i)
		}
	}
	g.mu.Unlock()
	var wg sync.WaitGroup
	for _, i := range leaving {
		wg.Go(func() { i.teardown(ctx) })
	}
	wg.Wait()
}

// track keeps an instance in the list of open ones, or removes it.
func (g *Running) track(i *instance, open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if open {
		g.open[i] = true
	} else {
		delete(g.open, i)
	}
}

// listChanged lists the tools again. It runs in a goroutine of the connection.
func (g *Running) listChanged(c *conn) {
	ctx, cancel := context.WithTimeout(c.ctx, g.runner.opts.Start)
	defer cancel()
	if err := c.list(ctx); err != nil {
		g.log.Note("cannot list the tools again: %s", g.redact(err.Error()))
		return
	}
	g.mu.Lock()
	current := g.up == c
	g.mu.Unlock()
	if !current {
		return // becomeReady declares them
	}
	if err := g.declare(c); err != nil {
		g.log.Note("cannot declare the tools: %v", err)
	}
}

// setState sets the connection or the failure, and wakes those who wait in ready.
func (g *Running) setState(up *conn, fail error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.up, g.fail = up, fail
	close(g.changed)
	g.changed = make(chan struct{})
}

// markStarted gives the callers of WaitStarted the outcome of the first start. Only the
// first call has an effect.
func (g *Running) markStarted(fail error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.begun {
		g.begun, g.startFail = true, fail
		close(g.started)
	}
}

// ready returns the connection. It waits while one is being made.
func (g *Running) ready(ctx context.Context) (*conn, error) {
	for {
		g.mu.Lock()
		up, fail, changed := g.up, g.fail, g.changed
		g.mu.Unlock()
		if up != nil {
			return up, nil
		}
		if fail != nil {
			return nil, g.unavailable(fail)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// current returns the connection that serves requests now, or nil.
func (g *Running) current() *conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.up
}
