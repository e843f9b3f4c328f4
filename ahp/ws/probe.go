package ws

import "time"

// Alive reports whether the other end has sent anything within a time or, as far as the
// system knows, acknowledged what it received: its answer can be behind much data on a slow
// network. An end that the reader does not read is alive.
func (c *Conn) Alive(within time.Duration) bool {
	return c.out.nc.silence() <= within || c.out.nc.acknowledged(within)
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
