package relay

// startWriter has everything written that has to be sent. A registration that has nothing to
// send, as almost all have at almost any time, needs no second goroutine.
func (r *registration) startWriter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready && !r.writing {
		r.writing = true
		r.writer.Go(r.write)
	}
}

// stopWriter waits until nothing is written anymore. The connection has ended.
func (r *registration) stopWriter() {
	r.mu.Lock()
	r.ready = false
	r.mu.Unlock()
	r.writer.Wait()
}

// take returns what has to be sent to the host. If that is nothing, the writer ends.
func (r *registration) take() (out [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.answered {
		out = append(out, message{Type: typeRegistered, Edges: r.edge.opts.Edges.String()}.encode())
		r.answered = true
	}
	for _, o := range r.offers {
		out = append(out, message{Type: typeLane, Lane: o.Lane, Secret: o.Secret, Edge: o.Edge}.encode())
	}
	if r.moving {
		out = append(out, message{Type: typeDrain}.encode())
	}
	r.offers, r.moving = nil, false
	r.writing = len(out) > 0
	return out
}

// write sends the offers to the host until there are none.
func (r *registration) write() {
	for {
		out := r.take()
		if len(out) == 0 || r.conn.WriteBatch(out) != nil {
			return // after an error, writing stays true: nothing can be written
		}
	}
}
