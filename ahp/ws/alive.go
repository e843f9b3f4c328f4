package ws

// checkAlive runs when the connection may have been silent for too long: it
// asks for a sign of life after Options.PingAfter, gives up after
// Options.DeadAfter, and otherwise sleeps until the next of the two. A timer and
// no goroutine waits for it.
func (c *Conn) checkAlive() {
	silence := c.nc.silence()
	if silence >= c.opts.DeadAfter {
		_ = c.shut(&CloseError{Code: CodeDead, Reason: "nothing heard for " + c.opts.DeadAfter.String()}, true)
		return
	}
	next := c.opts.PingAfter - silence
	if next <= 0 {
		c.owe("", false)
		next = c.opts.DeadAfter - silence
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.alive.Reset(next)
	}
}

// owe notes that a ping or a pong is to be sent and sees to a goroutine that
// sends it. The reader must not write; of several pings only the newest is
// answered (RFC 6455 section 5.5.3), so a flood of them costs nothing.
func (c *Conn) owe(payload string, pong bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	if pong {
		c.pong, c.owesPong = append(c.pong[:0], payload...), true
	} else {
		c.owesPing = true
	}
	if !c.flushing {
		c.flushing = true
		c.wg.Add(1)
		go c.writeOwed()
	}
}

func (c *Conn) writeOwed() {
	defer c.wg.Done()
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	for {
		frames := c.takeOwed()
		if frames == nil || c.write(frames) != nil {
			return
		}
	}
}

// takeOwed returns the control frames that are owed; nil ends the goroutine.
func (c *Conn) takeOwed() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var frames []byte
	if c.owesPong {
		frames = appendFrame(frames, opPong|bitFinal, c.pong, c.client)
	}
	if c.owesPing {
		frames = appendFrame(frames, opPing|bitFinal, nil, c.client)
	}
	c.owesPong, c.owesPing = false, false
	c.flushing = frames != nil
	return frames
}
