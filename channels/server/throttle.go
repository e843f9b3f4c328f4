package server

import (
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Rates limit what clients make the host do. The unit is a dispatch of a short action;
// long ones, and those with many recipients, cost more (ahp/PROTOCOL.md section 13.2). A
// sender above a rate waits: the host does not read from its connection. A negative rate
// is no limit.
type Rates struct {
	// Connection is the rate of one connection; default 2,000 a second.
	Connection float64
	// Session is the rate of all connections in one session; default 2,000 a second.
	Session float64
	// Token is the rate of all connections with one token; default 10,000 a second.
	Token float64
}

func (r Rates) withDefaults() Rates {
	return Rates{or(r.Connection, 2000), or(r.Session, 2000), or(r.Token, 10_000)}
}

const (
	// bytesPerUnit, largePerUnit and deliveriesPerUnit are what costs as much as a short
	// action. The part of a message above largeFrom costs more: it is decoded, checked,
	// stored and encoded again.
	bytesPerUnit      = 8 << 10
	largePerUnit      = 2 << 10
	largeFrom         = 64 << 10
	deliveriesPerUnit = 16
	// checkPerUnit is how long decoding and checking an action may take for a unit.
	checkPerUnit = 100 * time.Microsecond
	// mostForCheck limits what a check costs, because it might wait for others.
	mostForCheck = 500
	// longestWait is how long a message may wait for its turn; one that would wait longer
	// is refused.
	longestWait = 2 * time.Second
)

var errTooFast = ahp.Errorf(ahp.CodePermissionDenied, "too many actions: this connection, its token or the session is above its rate; wait and send fewer")

// costs are the costs of what makes the host work for others. The rest is limited by the
// number of messages. A dispatch costs a unit unless its action is a message, such as
// canvas/message: what it costs in addition is charged once that is known.
var costs = map[string]float64{
	ahp.DispatchAction.Name: 0.1, ahp.Subscribe.Name: 1, "createSession": 8, "disposeSession": 8, "listSessions": 8,
	ahp.Initialize.Name: 4, ahp.Reconnect.Name: 4,
}

// subscriptionsPerUnit is how many subscriptions of a handshake cost a unit.
const subscriptionsPerUnit = 2

// throttled is what a connection may send. It exists from the first message that costs.
type throttled struct {
	own, token *pace
	unhandled  unhandled

	mu      sync.Mutex
	session *pace // of the last dispatch

	// What the connection may spend although its token or session spends too much: an
	// equal part. It may be in debt.
	fair               float64
	filled             time.Time
	ofToken, ofSession int64 // the seconds in which it was counted among the spenders of each
}

// The part of the rates of its token and session that a connection has at least and at
// most, in units a second.
const (
	leastPart = 20
	mostPart  = 500
)

// fairly takes units from the connection's part of its token's and session's rates, and
// reports whether there were enough. A connection that spends little does not wait for
// those that spend much.
func (t *throttled) fairly(units float64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	part := t.token.part(&t.ofToken)
	if t.session != nil {
		part = min(part, t.session.part(&t.ofSession))
	}
	part = min(max(part, leastPart), mostPart)
	now := time.Now()
	if t.filled.IsZero() {
		t.fair = part
	}
	t.fair = min(part, t.fair+part*now.Sub(t.filled).Seconds())
	t.filled = now
	if t.fair < units {
		return false
	}
	t.fair -= units
	return true
}

// throttle returns the connection's limits. Only the reader makes them.
func (c *conn) throttle() *throttled {
	t := c.throttled.Load()
	if t == nil {
		t = &throttled{own: newPace(c.server.rates.Connection, 0.5), token: c.server.tokens.of(tokenName(c.grant)), unhandled: unhandled{half: make(chan struct{}, 1)}}
		c.throttled.Store(t)
	}
	return t
}

// Admit delays the connection's messages above the rates, and refuses them if they would
// wait too long.
func (c *conn) Admit(ctx context.Context, req *peer.Request) *ahp.Error {
	cost := costs[req.Method]
	if cost == 0 {
		return nil
	}
	cost += float64(min(req.Size(), largeFrom)/bytesPerUnit + max(req.Size()-largeFrom, 0)/largePerUnit)
	if opensConnection(req.Method) { // most connections send nothing else that costs
		pause(ctx, min(c.server.tokens.of(tokenName(c.grant)).spend(cost), longestWait))
		return nil
	}
	t := c.throttle()
	if req.Method == ahp.DispatchAction.Name {
		t.unhandled.add(ctx)
	}
	wait, owed := t.own.spend(cost), t.token.spend(cost)
	if !t.fairly(cost) {
		wait = max(wait, owed, t.debt())
	}
	switch {
	case wait <= 0:
		return nil
	case wait > longestWait:
		t.own.spend(-cost)
		t.token.spend(-cost)
		pause(ctx, longestWait)
		if !req.Notification { // then the peer answers it
			c.handledDispatch(req.Method)
		}
		return errTooFast
	}
	pause(ctx, wait)
	return nil
}

// handledDispatch records that a message was handled, if it was a dispatch.
func (c *conn) handledDispatch(method string) {
	if t := c.throttled.Load(); t != nil && method == ahp.DispatchAction.Name {
		t.unhandled.done()
	}
}

// subscribed charges a handshake for its subscriptions.
func (c *conn) subscribed(n int) {
	c.server.tokens.of(tokenName(c.grant)).spend(float64(n) / subscriptionsPerUnit)
}

// debt returns how long the session of the last dispatch makes its senders wait.
func (t *throttled) debt() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session == nil {
		return 0
	}
	return t.session.spend(0)
}

// Dispatched charges a dispatch for its deliveries and for the time of its check. It
// implements [channels.Meter].
func (c *conn) Dispatched(d channels.Cost) {
	t := c.throttled.Load()
	if t == nil {
		return
	}
	session := c.server.sessions.of(d.Owner)
	more := float64(d.Deliveries) / deliveriesPerUnit
	if !d.Message {
		more += 1 - costs[ahp.DispatchAction.Name]
	}
	t.unhandled.messages.Store(d.Message)
	t.mu.Lock()
	t.session = session
	t.fair -= more
	t.mu.Unlock()
	session.spend(costs[ahp.DispatchAction.Name] + more)
	t.token.spend(more)
	t.own.spend(more + min(float64(d.Checked/checkPerUnit), mostForCheck))
}

// pause waits for a time or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
