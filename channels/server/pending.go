package server

import "sync"

// pending counts messages that were taken up and are not done with: a request that
// has no answer yet, a dispatch that is being applied.
type pending struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n is 0; nil while nobody waits
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

// none returns a channel that is closed when nothing is pending. A request that
// is dropped with its connection stays pending: wait for the connection too.
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
