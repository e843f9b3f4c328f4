package conform

// Conns is how many connections p keeps, to end them with it.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}
