package server

import "sync"

// pending counts messages that are being handled: requests without an answer,
// dispatches that are not yet applied.
type pending struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n is 0; nil if no goroutine waits
}

func (p *pending) add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
}

func (p *pending) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n--; p.n == 0 && p.zero != nil {
		close(p.zero)
		p.zero = nil
	}
}

func (p *pending) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n == 0
}

// none returns a channel that is closed when no message is pending. A request that
// was dropped with its connection stays pending, so a caller also waits for the end
// of the connection.
func (p *pending) none() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.zero == nil {
		p.zero = make(chan struct{})
	}
	zero := p.zero
	if p.n == 0 {
		close(p.zero)
		p.zero = nil
	}
	return zero
}
