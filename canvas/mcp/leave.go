package mcp

import (
	"context"
	"net/http"
	"sync"
)

// present knows the calls of each MCP session over HTTP. The library ends a
// session only when its calls have ended, and lets the client that leaves wait
// for that.
type present struct {
	mu    sync.Mutex
	calls map[string]map[*context.CancelFunc]struct{} // by session id
}

// enter notes a call until done is called. Sessions without an id have a life of
// their own.
func (p *present) enter(session string, cancel context.CancelFunc) (done func()) {
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

// leave cancels the calls of a client that says that it goes.
func (p *present) leave(r *http.Request) {
	if r.Method != http.MethodDelete {
		return
	}
	p.mu.Lock()
	var under []context.CancelFunc
	for cancel := range p.calls[r.Header.Get(sessionHeader)] {
		under = append(under, *cancel)
	}
	p.mu.Unlock()
	for _, cancel := range under {
		cancel()
	}
}
