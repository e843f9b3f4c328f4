package conform

// Conns returns the number of open connections, counting both ends.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}
