package actionsbridge

import (
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Transport carries items to a runtime's connection.
type Transport interface {
	// Send sends an item. It never blocks: a transport that cannot take the item returns
	// an error, and the connection ends.
	Send(item []byte) error
	// Close ends the connection. The reason is one of the Reason constants.
	Close(reason string)
}

// Reasons why a Bridge closes a connection.
const (
	ReasonEnding  = "the bridge ends"
	ReasonIdle    = "no runtime connected"
	ReasonBroken  = "too many malformed items"
	ReasonBusy    = "too many pages wait for a person"
	ReasonFailed  = "an item could not be sent"
	ReasonRemoved = "a person disconnected it"
)

// Conn is a connection with any number of runtimes.
type Conn struct {
	b   *Bridge
	t   Transport
	who Principal

	// b.mu guards these.
	runtimes map[string]*runtime
	closed   bool
	letIn    bool // it showed the token, has a configured origin, or a person let a runtime in
	empty    time.Time
	pinged   time.Time
	broken   []time.Time // the latest malformed items
}

// Attach adds a connection. The caller passes what it receives to [Conn.Receive], and calls
// [Conn.Close] when the connection ends. Attach on a closed or full Bridge closes t.
func (b *Bridge) Attach(t Transport, who Principal) *Conn {
	return b.attach(t, who, 0)
}

// full reports whether no connection is let in. The caller holds mu.
func (b *Bridge) full() bool {
	return b.closed || len(b.conns)+b.entering >= b.limits.Connections
}

// attach adds a connection, for which reserved places (0 or 1) were kept free.
func (b *Bridge) attach(t Transport, who Principal, reserved int) *Conn {
	now := b.opts.Now()
	c := &Conn{b: b, t: t, who: who, runtimes: map[string]*runtime{}, empty: now, pinged: now}
	c.letIn = who.Trusted || slices.Contains(b.opts.Origins, who.Origin)
	b.mu.Lock()
	b.entering -= reserved
	if b.full() {
		c.closed = true
		b.mu.Unlock()
		t.Close(ReasonBusy)
		return c
	}
	b.conns[c] = struct{}{}
	b.mu.Unlock()
	select {
	case b.kick <- struct{}{}:
	default:
	}
	return c
}

// work is what follows from a change under Bridge.mu, and happens outside of it.
type work struct {
	finished []*pending
	sends    []sending
	closes   []closing
}

type sending struct {
	c    *Conn
	item ahp.Value
}

type closing struct {
	c      *Conn
	reason string
}

func (w *work) send(c *Conn, item ahp.Value) { w.sends = append(w.sends, sending{c, item}) }

// perform reports events, then finishes calls, then sends and closes. The caller does not
// hold b.mu.
func (b *Bridge) perform(w *work) {
	b.flush()
	for _, p := range w.finished {
		close(p.done)
	}
	for _, s := range w.sends {
		if s.c.t.Send(s.item) != nil {
			s.c.end(ReasonFailed)
		}
	}
	for _, c := range w.closes {
		c.c.t.Close(c.reason)
	}
}

// Close says that the transport has ended: its runtimes are gone, and calls in flight fail.
func (c *Conn) Close() { c.end("") }

// end removes the connection. With a reason it also closes the transport.
func (c *Conn) end(reason string) {
	w := &work{}
	c.b.mu.Lock()
	c.b.drop(w, c, reason)
	c.b.mu.Unlock()
	c.b.perform(w)
}

// drop removes a connection. The caller holds b.mu.
func (b *Bridge) drop(w *work, c *Conn, reason string) {
	if c.closed {
		return
	}
	c.closed = true
	delete(b.conns, c)
	for _, rt := range c.runtimes {
		b.remove(w, rt)
	}
	if reason != "" {
		w.closes = append(w.closes, closing{c, reason})
		b.opts.Logger.Debug("actions bridge: connection closed", "reason", reason, "kind", c.who.Kind)
	}
}

// remove removes a runtime, and fails its calls in flight. The caller holds b.mu.
func (b *Bridge) remove(w *work, rt *runtime) {
	last := rt.snapshot()
	delete(rt.conn.runtimes, rt.id)
	delete(b.runtimes, rt.id)
	b.manifests.release(rt.shared)
	if len(rt.conn.runtimes) == 0 {
		rt.conn.empty = b.opts.Now()
	}
	b.failCalls(w, rt, NewError(CodeTransportFailed, nil, "the page's connection ended before its answer"))
	b.report(Event{Kind: Gone, Runtime: last})
}

// ready adds or refreshes a runtime.
func (c *Conn) ready(w *work, item Item, shared *compiled) {
	b := c.b
	rt, err := c.admit(w, item)
	if err != nil {
		b.manifests.release(shared)
		w.send(c, errorItem(err, "", item.RuntimeID))
		return
	}
	if rt == nil { // the connection was closed
		b.manifests.release(shared)
		return
	}
	fresh := rt.seq == 0
	if fresh {
		b.seq++
		rt.seq = b.seq
	}
	before := rt.state()
	rt.seen, rt.silent = b.opts.Now(), false
	rt.access = b.decide(c, item)
	rt.scripts = b.verdicts.scripts(c.who, rt.key, rt.id)
	changed := rt.about(item)
	rt.item.AuthorizationID = item.AuthorizationID
	changed = b.setManifest(rt, item, shared) || changed
	switch {
	case fresh && rt.access == accessAllowed:
		b.report(Event{Kind: Connected, Runtime: rt.snapshot()})
	case fresh || rt.state() != before && rt.access != accessAllowed:
		b.report(Event{Kind: Pending, Runtime: rt.snapshot()})
	case changed || rt.state() != before:
		b.report(Event{Kind: Changed, Runtime: rt.snapshot()})
	}
	if rt.access == accessRefused {
		w.send(c, errorItem(NewError(CodePermissionDenied, nil, "a person refused this page"), "", rt.id))
	}
	c.pinged = b.opts.Now()
	w.send(c, ping)
}

// setManifest installs the manifest of a runtime_ready, and reports whether it differs. It
// takes over the use of shared.
func (b *Bridge) setManifest(rt *runtime, item Item, shared *compiled) (changed bool) {
	if rt.access != accessAllowed {
		b.manifests.release(shared)
		b.manifests.release(rt.shared)
		rt.shared, rt.manifest, rt.issues = nil, nil, nil
		rt.raw, rt.item.Capabilities = item.Manifest, item.Capabilities
		return false
	}
	if item.Manifest != nil && shared == nil { // it was let in a moment ago
		shared = b.manifests.use(item.Manifest)
		shared.compile(b.memory)
	}
	old := rt.shared
	same := old != nil && old == shared && ahp.Equal(rt.item.Capabilities, item.Capabilities)
	rt.shared, rt.raw, rt.item.Capabilities = shared, nil, item.Capabilities
	b.manifests.release(old)
	if same {
		return false
	}
	rt.manifest, rt.issues = nil, nil
	if shared != nil {
		rt.manifest, rt.issues = shared.m, shared.issues
	}
	rt.manifest = rt.manifest.Merged(item.Capabilities)
	return true
}

// admit finds or makes the runtime of a runtime_ready. It returns nil if it closed the
// connection.
func (c *Conn) admit(w *work, item Item) (*runtime, *Error) {
	b := c.b
	if err := item.checkReady(); err != nil {
		return nil, err
	}
	if err := c.checkOrigin(item.URL); err != nil {
		if rt := c.runtimes[item.RuntimeID]; rt != nil {
			b.remove(w, rt)
		}
		return nil, err
	}
	if rt := b.runtimes[item.RuntimeID]; rt != nil {
		switch {
		case rt.conn == c && rt.key == item.RuntimeKey:
			return rt, nil
		case rt.conn != c && rt.conn.who != c.who:
			return nil, NewError(CodePermissionDenied, nil, "another connection has the runtime_id %q", cleanText(item.RuntimeID, maxString))
		}
		b.remove(w, rt) // it was restarted, or names another surface
	}
	if len(b.runtimes) >= b.limits.Runtimes || len(c.runtimes) >= b.limits.PerConn {
		return nil, NewError(CodeRuntimeNotReady, nil, "there are too many runtimes: at most %d on a connection, and %d in all", b.limits.PerConn, b.limits.Runtimes)
	}
	if b.decide(c, item) == accessWaiting && b.waiting() >= b.limits.Waiting {
		if !slices.ContainsFunc(c.all(), func(rt *runtime) bool { return rt.access == accessAllowed }) {
			b.drop(w, c, ReasonBusy)
			return nil, nil
		}
		return nil, NewError(CodeRuntimeNotReady, nil, ReasonBusy)
	}
	rt := &runtime{id: item.RuntimeID, key: item.RuntimeKey, conn: c, filled: b.opts.Now(), tokens: float64(b.limits.Burst)}
	c.runtimes[rt.id], b.runtimes[rt.id] = rt, rt
	return rt, nil
}

func (c *Conn) all() []*runtime {
	all := make([]*runtime, 0, len(c.runtimes))
	for _, rt := range c.runtimes {
		all = append(all, rt)
	}
	return all
}

func (b *Bridge) waiting() (n int) {
	for _, rt := range b.runtimes {
		if rt.access == accessWaiting {
			n++
		}
	}
	return n
}
