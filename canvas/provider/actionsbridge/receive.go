package actionsbridge

import (
	"slices"
	"time"
)

var ping = Item{Type: TypeRuntimeStatus}.Encode()

// Receive handles one item. One goroutine calls it, in the order in which the items came.
// An event has been reported, and a call that the item answers has its outcome, when it
// returns.
func (c *Conn) Receive(raw []byte) {
	b := c.b
	item, err := DecodeItem(raw)
	if err == nil && item.Type == TypeEvent {
		c.receiveEvent(item)
		return
	}
	var shared *compiled
	if err == nil && item.Type == TypeRuntimeReady && item.Manifest != nil {
		shared = c.prepare(item)
	}
	w := &work{}
	b.mu.Lock()
	switch {
	case c.closed:
		b.manifests.release(shared)
	case err != nil:
		c.malformed(w, item, err)
	default:
		c.handle(w, item, shared)
	}
	b.mu.Unlock()
	b.perform(w)
}

// prepare compiles the manifest of a runtime that is let in. It returns nil for others:
// they cost nothing until a person lets them in.
func (c *Conn) prepare(item Item) *compiled {
	b := c.b
	b.mu.Lock()
	var shared *compiled
	if rt := c.runtimes[item.RuntimeID]; !c.closed && b.decide(c, item) == accessAllowed && (rt == nil || rt.conn == c) {
		shared = b.manifests.use(item.Manifest)
	}
	b.mu.Unlock()
	if shared != nil {
		shared.compile(b.memory)
	}
	return shared
}

// malformed answers an item that cannot be read. An answer to a pending call fails it.
func (c *Conn) malformed(w *work, item Item, err *Error) {
	b := c.b
	b.stats.Broken++
	if p := b.pending[item.CallID]; p != nil && p.rt.conn == c && p.rt.id == item.RuntimeID && (item.Type == TypeOutput || item.Type == TypeError) {
		delete(b.pending, item.CallID)
		p.finish(w, NewError(CodeHandlerFailed, nil, "the runtime's answer cannot be read"))
		return
	}
	w.send(c, errorItem(err, "", item.RuntimeID))
	now := b.opts.Now()
	c.broken = slices.DeleteFunc(c.broken, func(at time.Time) bool { return now.Sub(at) >= errorsWindow })
	if c.broken = append(c.broken, now); len(c.broken) >= maxItemErrors {
		b.drop(w, c, ReasonBroken)
	}
}

// handle handles an item. The caller holds b.mu.
func (c *Conn) handle(w *work, item Item, shared *compiled) {
	b := c.b
	if item.Type == TypeRuntimeReady {
		c.ready(w, item, shared)
		return
	}
	rt := c.runtimes[item.RuntimeID]
	if rt == nil || !known[item.Type] || item.Type == TypeCall {
		if item.Type == TypeOutput || item.Type == TypeError {
			b.stats.Answers++
		} else {
			b.stats.Items++
		}
		return
	}
	c.seen(rt)
	switch item.Type {
	case TypeRuntimeStatus:
		c.status(w, rt, item)
	case TypeRuntimeRemoved:
		b.remove(w, rt)
	case TypeOutput, TypeError:
		b.answer(w, rt, item)
	case TypeProgress:
		if p := b.pending[item.CallID]; p != nil && p.rt == rt {
			p.step = item.Phase
		}
	}
}

// checkOrigin checks that a web page speaks for its own origin.
func (c *Conn) checkOrigin(rawURL string) *Error {
	if c.who.Kind == Page && originOf(rawURL) != c.who.Origin {
		return NewError(CodePermissionDenied, pathEvidence{Path: "/url"}, "the url is not of the origin that connected")
	}
	return nil
}

// status updates a runtime by its report.
func (c *Conn) status(w *work, rt *runtime, item Item) {
	b := c.b
	if item.URL != "" {
		if err := c.checkOrigin(item.URL); err != nil {
			b.remove(w, rt)
			w.send(c, errorItem(err, "", rt.id))
			return
		}
	}
	changed := rt.stale
	rt.stale = false
	if rt.about(item) || changed {
		b.report(Event{Kind: Changed, Runtime: rt.snapshot()})
	}
}

// receiveEvent reports a dom_event that the manifest declares. The payload is checked
// without the lock, because that takes time.
func (c *Conn) receiveEvent(item Item) {
	b, w := c.b, &work{}
	b.mu.Lock()
	rt, manifest := c.takeEvent(w, item)
	b.mu.Unlock()
	b.perform(w)
	if rt == nil {
		return
	}
	name, ok := manifest.Signal(item)
	b.mu.Lock()
	switch {
	case b.runtimes[rt.id] != rt || rt.access != accessAllowed:
		b.stats.Events++
	case ok:
		item.Event = cleanEvent(item)
		item.Name = name
		b.report(Event{Kind: Signaled, Runtime: rt.snapshot(), Item: item})
	default:
		b.dropEvent(rt)
	}
	b.mu.Unlock()
	b.flush()
}

// takeEvent returns the runtime of an event that may be passed on, and its manifest. The
// caller holds b.mu.
func (c *Conn) takeEvent(w *work, item Item) (*runtime, *Manifest) {
	b, rt := c.b, c.runtimes[item.RuntimeID]
	if rt == nil || c.closed {
		b.stats.Items++
		return nil, nil
	}
	c.seen(rt)
	if item.EventID == "" || item.Name == "" || item.Payload == nil {
		b.stats.Broken++
		w.send(c, errorItem(malformed("/event_id", "dom_event needs event_id, name and payload"), "", rt.id))
		return nil, nil
	}
	if rt.access != accessAllowed {
		b.stats.Events++
		return nil, nil
	}
	if len(rt.issues) > 0 || !b.spend(rt) {
		b.dropEvent(rt)
		return nil, nil
	}
	return rt, rt.manifest
}

// dropEvent counts an event that is not passed on. The caller holds b.mu.
func (b *Bridge) dropEvent(rt *runtime) {
	b.stats.Events++
	rt.dropped++
	rt.untold++
	b.lookAt(rt, b.opts.Now())
}

// seen records an item of a runtime.
func (c *Conn) seen(rt *runtime) {
	rt.seen = c.b.opts.Now()
	if rt.silent {
		rt.silent = false
		c.b.report(Event{Kind: Changed, Runtime: rt.snapshot()})
	}
}

// cleanEvent returns the name of the DOM event: of an old runtime it is the event's name.
func cleanEvent(item Item) string {
	if item.Event != "" {
		return cleanText(item.Event, maxString)
	}
	return cleanText(item.Name, maxString)
}

// spend reports whether a runtime may report an event now.
func (b *Bridge) spend(rt *runtime) bool {
	now := b.opts.Now()
	rt.tokens = min(float64(b.limits.Burst), rt.tokens+now.Sub(rt.filled).Seconds()*float64(b.limits.Events))
	rt.filled = now
	if rt.tokens < 1 {
		return false
	}
	rt.tokens--
	return true
}
