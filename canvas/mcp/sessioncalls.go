package mcp

import (
	"context"
	"net/http"
	"sync"
)

// sessionCalls tracks the active calls of each MCP session over HTTP, to cancel them
// when the client ends its session. The MCP library would wait for the calls instead.
type sessionCalls struct {
	mu    sync.Mutex
	calls map[string]map[*context.CancelFunc]struct{} // by session id
}

// enter registers a call until done is called. Requests without a session are ignored:
// the request's own context ends them.
func (p *sessionCalls) enter(session string, cancel context.CancelFunc) (done func()) {
	if session == "" {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[session] == nil {
		p.calls[session] = map[*context.CancelFunc]struct{}{}
	}
	key := &cancel
	p.calls[session][key] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls[session], key)
		if len(p.calls[session]) == 0 {
			delete(p.calls, session)
		}
	}
}

// leave cancels the calls of a session that r deletes.
func (p *sessionCalls) leave(r *http.Request) {
	if r.Method != http.MethodDelete {
		return
	}
	p.mu.Lock()
	var active []context.CancelFunc
	for cancel := range p.calls[r.Header.Get(sessionHeader)] {
		active = append(active, *cancel)
	}
	p.mu.Unlock()
	for _, cancel := range active {
		cancel()
	}
}
