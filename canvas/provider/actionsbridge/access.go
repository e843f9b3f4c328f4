package actionsbridge

import (
	"fmt"
	"slices"
)

// Verdict is what a person decides about a runtime.
type Verdict int

// The verdicts.
const (
	Allow        Verdict = iota // it may be called
	AllowScripts                // likewise, and also actions that run scripts
	Refuse                      // it may not, and neither may a later one of its origin and key
	Disconnect                  // it is removed, and waits when it connects again
)

// verdictKey is what a verdict is about: it outlives the connection, but not the Bridge.
type verdictKey struct {
	kind        Kind
	origin, key string
}

type verdict struct {
	allowed, refused, scripts bool
	authorization             string
}

// maxVerdicts bounds the verdicts; the oldest goes.
const maxVerdicts = 1024

// verdicts are what people decided. Bridge.mu guards it.
type verdicts struct {
	byKey map[verdictKey]verdict
	order []verdictKey
}

func (v *verdicts) init() { v.byKey = map[verdictKey]verdict{} }

// keyOf names what a verdict is about: the origin and the runtime_key. A runtime without a
// key is known by its id alone.
func keyOf(who Principal, key, id string) verdictKey {
	if key == "" {
		return verdictKey{who.Kind, who.Origin, "id:" + id}
	}
	return verdictKey{who.Kind, who.Origin, "key:" + key}
}

func (v *verdicts) set(k verdictKey, d verdict) {
	if _, known := v.byKey[k]; known {
		v.order = slices.DeleteFunc(v.order, func(o verdictKey) bool { return o == k })
	}
	v.byKey[k] = d
	if v.order = append(v.order, k); len(v.order) > maxVerdicts {
		delete(v.byKey, v.order[0])
		v.order = v.order[1:]
	}
}

func (v *verdicts) scripts(who Principal, key, id string) bool {
	return v.byKey[keyOf(who, key, id)].scripts
}

// decide returns whether a runtime is let in: by a person's verdict, by the token, or by
// its origin. An allowance is for one authorization id. The caller holds b.mu.
func (b *Bridge) decide(c *Conn, item Item) access {
	d, decided := b.verdicts.byKey[keyOf(c.who, item.RuntimeKey, item.RuntimeID)]
	switch {
	case decided && d.refused:
		return accessRefused
	case decided && d.allowed && d.authorization == item.AuthorizationID:
		return accessAllowed
	case decided:
		return accessWaiting // it was disconnected, or another approval is needed
	case c.who.Trusted || slices.Contains(b.opts.Origins, c.who.Origin):
		return accessAllowed
	}
	return accessWaiting
}

// Judge applies a person's verdict to a runtime, and to later ones of the same origin and
// runtime_key.
func (b *Bridge) Judge(runtimeID string, v Verdict) error {
	w := &work{}
	b.mu.Lock()
	rt := b.runtimes[runtimeID]
	if rt == nil {
		b.mu.Unlock()
		return fmt.Errorf("there is no runtime %q any more", cleanText(runtimeID, maxString))
	}
	b.judge(w, rt, v)
	b.mu.Unlock()
	b.perform(w)
	return nil
}

// judge applies a verdict. The caller holds b.mu.
func (b *Bridge) judge(w *work, rt *runtime, v Verdict) {
	c := rt.conn
	k := keyOf(c.who, rt.key, rt.id)
	d := verdict{authorization: rt.item.AuthorizationID}
	switch v {
	case Allow:
		d.allowed, d.scripts = true, rt.scripts && rt.access == accessAllowed
	case AllowScripts:
		d.allowed, d.scripts = true, true
	case Refuse:
		d.refused = true
	}
	b.verdicts.set(k, d)
	if v == Disconnect {
		w.send(c, errorItem(NewError(CodePermissionDenied, nil, ReasonRemoved), "", rt.id))
		b.remove(w, rt)
		if len(c.runtimes) == 0 {
			b.drop(w, c, ReasonRemoved)
		}
		return
	}
	for _, other := range b.runtimes { // tabs of a site can share a key
		if keyOf(other.conn.who, other.key, other.id) == k && (v == Refuse || other.item.AuthorizationID == d.authorization) {
			b.apply(w, other, d)
		}
	}
}

// apply changes the access of a runtime.
func (b *Bridge) apply(w *work, rt *runtime, d verdict) {
	before, had := rt.access, rt.scripts
	rt.scripts = d.scripts
	if d.refused {
		rt.access = accessRefused
		b.failCalls(w, rt, NewError(CodePermissionDenied, nil, "a person refused this page"))
		w.send(rt.conn, errorItem(NewError(CodePermissionDenied, nil, "a person refused this page"), "", rt.id))
		b.report(Event{Kind: Pending, Runtime: rt.snapshot()})
		return
	}
	rt.access, rt.conn.letIn = accessAllowed, true
	if before == accessAllowed {
		if had != rt.scripts {
			b.report(Event{Kind: Changed, Runtime: rt.snapshot()})
		}
		return
	}
	if rt.shared == nil { // otherwise it was let in before
		item := rt.item
		item.Manifest = rt.raw
		b.setManifest(rt, item, nil)
	}
	b.report(Event{Kind: Connected, Runtime: rt.snapshot()})
	w.send(rt.conn, ping)
}

// failCalls fails what is in flight on a runtime. The caller holds b.mu.
func (b *Bridge) failCalls(w *work, rt *runtime, err *Error) {
	for id, p := range b.pending {
		if p.rt == rt {
			delete(b.pending, id)
			p.finish(w, err)
		}
	}
}
