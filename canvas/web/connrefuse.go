package web

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// refusal is how long the client of a refused request waits for the answer, on average.
const refusal = time.Second

// Refused makes the client of a request that is about to be refused wait for about a
// second, so that one that asks again at once costs little. Meanwhile its connection
// counts as one that has shown no token, and is the first to give way to others.
func Refused(r *http.Request) {
	if g, _ := r.Context().Value(connKey{}).(*trackedConn); g != nil {
		g.limiter.disprove(g)
	}
	select {
	case <-time.After(refusal/2 + rand.N(refusal)): // those who came together do not come together again
	case <-r.Context().Done():
	}
}

// TooMany answers a request that a limit refuses, see [Refused].
func TooMany(w http.ResponseWriter, r *http.Request) {
	Refused(r)
	w.Header().Set("Retry-After", "5")
	w.Header().Set("Connection", "close")
	http.Error(w, "too many connections: try again in a few seconds", http.StatusServiceUnavailable)
}

// disprove makes a connection the first to give way.
func (c *ConnLimiter) disprove(g *trackedConn) {
	c.pace.leave(g.young) // its place among the new ones
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update(g, func() { g.proven, g.refused, g.quiet = false, true, time.Time{} })
}
