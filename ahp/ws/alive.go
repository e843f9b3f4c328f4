package ws

import "time"

// checkAlive sends a ping after Options.PingAfter of silence, and closes the connection
// after Options.DeadAfter. It runs on a timer, so that no goroutine waits.
func (w *writer) checkAlive() {
	silence := w.nc.silence()
	if silence >= w.opts.DeadAfter {
		_ = w.shut(&CloseError{Code: CodeDead, Reason: "nothing received for " + w.opts.DeadAfter.String()}, true)
		return
	}
	next := w.opts.PingAfter - silence
	if next <= 0 {
		w.queueControl("", false)
		next = w.opts.DeadAfter - silence
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause == nil {
		w.alive.Reset(next)
	}
}

// queueControl queues a pong with a payload, or a ping, and starts a goroutine that
// sends it, because the reader must not write. Only the newest of several pings is
// answered (RFC 6455 section 5.5.3), so a flood of them has little effect.
func (w *writer) queueControl(payload string, pong bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause != nil {
		return
	}
	if w.control == nil {
		w.control = &control{}
		w.wg.Add(1)
		go w.writeControl()
	}
	due := w.control
	if pong {
		due.pong, due.pongDue = append(due.pong[:0], payload...), true
		return
	}
	due.pingDue = true
	if payload != "" { // a ping without a payload only asks for an answer, which this one has, too
		due.ping = append(due.ping[:0], payload...)
	}
}

// writeControl writes control frames until none is queued.
func (w *writer) writeControl() {
	defer w.wg.Done()
	w.writing <- struct{}{}
	defer func() { <-w.writing }()
	for {
		frames := w.takeControl()
		if frames == nil || w.write(frames) != nil {
			return
		}
	}
}

// takeControl returns the queued control frames, encoded. nil ends writeControl.
func (w *writer) takeControl() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var frames []byte
	due := w.control
	if due.pongDue {
		frames = appendFrame(frames, opPong|bitFinal, due.pong, w.client)
	}
	if due.pingDue {
		frames = appendFrame(frames, opPing|bitFinal, due.ping, w.client)
		due.ping = nil
	}
	due.pongDue, due.pingDue = false, false
	if frames == nil {
		w.control = nil
	}
	return frames
}

// Alive reports whether the other end has sent anything within a time or, as far as the
// system knows, acknowledged what it received: its answer can be behind much data on a slow
// network. An end that the reader does not read is alive.
func (c *Conn) Alive(within time.Duration) bool {
	return c.out.nc.silence() <= within || c.out.nc.acknowledged(within)
}

// Ping sends a ping with a payload of at most 125 bytes, and returns at once. Of several that
// wait to be sent, the newest is.
func (c *Conn) Ping(payload string) { c.out.queueControl(payload, false) }

// OnPing has the reader call received with the payload of each further ping that has one.
// received must not wait.
func (c *Conn) OnPing(received func(payload string)) { c.onPing.Store(&received) }

// pinged answers a ping.
func (c *Conn) pinged(payload string) {
	c.out.queueControl(payload, true)
	if received := c.onPing.Load(); received != nil && payload != "" {
		(*received)(payload)
	}
}

// Probe sends a ping and closes the connection with CodeDead if the other end is not alive
// within a time.
func (c *Conn) Probe(within time.Duration) {
	began := time.Now()
	c.out.queueControl("", false)
	time.AfterFunc(within, func() {
		if !c.Alive(time.Since(began)) {
			_ = c.out.shut(&CloseError{Code: CodeDead, Reason: "no answer to a ping within " + within.String()}, true)
		}
	})
}
