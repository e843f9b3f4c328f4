package ws

// checkAlive sends a ping after Options.PingAfter of silence, and closes the connection
// after Options.DeadAfter. It runs on a timer, so that no goroutine waits.
func (c *Conn) checkAlive() {
	silence := c.nc.silence()
	if silence >= c.opts.DeadAfter {
		_ = c.shut(&CloseError{Code: CodeDead, Reason: "nothing received for " + c.opts.DeadAfter.String()}, true)
		return
	}
	next := c.opts.PingAfter - silence
	if next <= 0 {
		c.queueControl("", false)
		next = c.opts.DeadAfter - silence
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.alive.Reset(next)
	}
}

// queueControl queues a pong with a payload, or a ping, and starts a goroutine that
// sends it, because the reader must not write. Only the newest of several pings is
// answered (RFC 6455 section 5.5.3), so a flood of them has little effect.
func (c *Conn) queueControl(payload string, pong bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	if pong {
		c.pong, c.pongDue = append(c.pong[:0], payload...), true
	} else {
		c.pingDue = true
	}
	if !c.controlRunning {
		c.controlRunning = true
		c.wg.Add(1)
		go c.writeControl()
	}
}

// writeControl writes control frames until none is queued.
func (c *Conn) writeControl() {
	defer c.wg.Done()
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	for {
		frames := c.takeControl()
		if frames == nil || c.write(frames) != nil {
			return
		}
	}
}

// takeControl returns the queued control frames, encoded. nil ends writeControl.
func (c *Conn) takeControl() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var frames []byte
	if c.pongDue {
		frames = appendFrame(frames, opPong|bitFinal, c.pong, c.client)
	}
	if c.pingDue {
		frames = appendFrame(frames, opPing|bitFinal, nil, c.client)
	}
	c.pongDue, c.pingDue = false, false
	c.controlRunning = frames != nil
	return frames
}
