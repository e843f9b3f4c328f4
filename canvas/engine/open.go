package engine

import (
	"bytes"
	"cmp"
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// An open goes through these steps. Each has a type with what the next one needs;
// none changes the values of the one before.
//
//	plan      plannedOpen   which provider and declaration, a new instance or an open one
//	ask       answeredOpen  the provider's answer, within the limits
//	prepare   preparedOpen  the records to commit, and those that undo them
//	commit    in the store: durable
//	publish   in the log: visible
//
// The instance's turn is held all the way, and no lock from one step to the next.

// Open opens a canvas, or opens it again (canvas/PROTOCOL.md section 3). It is
// idempotent: the same declaration under a live instance id with an absent or equal
// input is that instance, and the provider is not called. Its errors are
// *[canvas.Error], the context's, or the store's.
func (e *Engine) Open(ctx context.Context, args canvas.OpenArgs) (canvas.OpenCanvas, error) {
	return e.openFor(ctx, args, agentOf(ctx))
}

// openFor is Open for an actor, which the history names.
func (e *Engine) openFor(ctx context.Context, args canvas.OpenArgs, who canvas.Actor) (open canvas.OpenCanvas, err error) {
	ctx, span := e.trace.Start(ctx, "canvas open")
	defer func() { span.End(codeOf(err)) }()
	span.Set("canvas.id", args.CanvasID)
	if args.InstanceID == "" {
		args.InstanceID = e.newID()
	} else if err := canvas.CheckInstanceID(args.InstanceID); err != nil {
		return canvas.OpenCanvas{}, err
	}
	k := key{args.Session, args.InstanceID}
	release, err := e.turns.take(ctx, k)
	if err != nil {
		return canvas.OpenCanvas{}, err
	}
	defer release()
	p, open, err := e.planOpen(k, args)
	if err != nil || p == nil {
		return open, err
	}
	p.byAgent = true
	did := "opened the canvas"
	if p.inst != nil {
		did = "opened the canvas again"
	}
	if open, err = p.run(ctx); err == nil {
		e.history.Add(args.Session, canvas.Happening{Who: who, What: did, InstanceID: open.InstanceID, Title: cmp.Or(open.Title, open.DisplayName, open.InstanceID)})
	}
	return open, err
}

// PersonOpen is the method x-ahp-canvas/personOpen: a person opens a declared canvas, which gets
// no input. Only a connection that is subscribed to the session may (canvas/PROTOCOL.md
// section 3.2).
func (e *Engine) PersonOpen(ctx context.Context, from *channels.Subscriber, p canvas.PersonOpenParams) (canvas.PersonOpenResult, error) {
	if err := viewOf(from).MustBePerson(); err != nil {
		return canvas.PersonOpenResult{}, asWire(err)
	}
	subscribed := false
	e.log.View(func(tx *channels.ReadTx) { subscribed = tx.ClientSubscribed(from.ClientID, p.Channel) })
	if !subscribed {
		return canvas.PersonOpenResult{}, ahp.ErrNotFound
	}
	open, err := e.openFor(ctx, canvas.OpenArgs{Session: p.Channel, ExtensionID: p.ExtensionID, CanvasID: p.CanvasID}, e.actor(from))
	return canvas.PersonOpenResult{InstanceID: open.InstanceID, Channel: open.Channel}, asWire(err)
}

// plannedOpen is an open that was found to need the provider.
type plannedOpen struct {
	engine *Engine
	key    key
	reg    *Registration
	ext    canvas.Extension // the provider's now: a client may declare again under another name
	decl   *check.Declared
	place  *reservation // of a new instance
	inst   *instance    // nil for a new instance
	uri    string       // of the instance's channel
	live   *handle      // of a ready instance, which keeps it; nil if the open makes a handle
	input  ahp.Value    // what the canvas is opened with
	saved  []byte       // what the instance's provider saved before

	byAgent bool // and not because the provider is reachable again
}

// run asks the provider, and commits and publishes its answer.
func (p *plannedOpen) run(ctx context.Context) (open canvas.OpenCanvas, err error) {
	defer p.releasePlace()
	if err := p.engine.limits.Input(p.decl.Input, p.input); err != nil {
		return open, err
	}
	if p.inst != nil {
		p.uri = p.inst.channel
	} else {
		p.uri = ahp.SchemeCanvas + ":/" + p.engine.newID()
	}
	c := newCall(ctx, p.reg, p.engine.timeouts.Open)
	c.inst, c.reopen = p.inst, p.inst != nil && p.live == nil
	if _, err = p.engine.beginCall(c); err != nil {
		return open, err
	}
	defer c.end()
	defer p.reopening()()
	a := answeredOpen{plannedOpen: p, call: c, handle: p.live}
	if p.live == nil {
		a.handle = newHandle(p.engine, p.key, p.ext)
	}
	if a.opened, err = p.ask(c, a.handle); err == nil {
		if open, err = a.accept(); err != nil {
			p.engine.tasks.start(func() { p.discard(c, a.opened) })
		}
	}
	if err != nil && p.live == nil {
		a.handle.life.end()
	}
	return open, err
}

// reopening marks an open instance as being opened again until done is called: the
// provider's updates count during that time, although the instance may be stale. A new
// instance has no channel yet to update.
func (p *plannedOpen) reopening() (done func()) {
	if p.inst == nil {
		return func() {}
	}
	set := func(on bool) { p.engine.log.View(func(*channels.ReadTx) { p.inst.reopening = on }) }
	set(true)
	return func() { set(false) }
}

// releasePlace gives up the place of an instance that was not published.
func (p *plannedOpen) releasePlace() {
	if p.place != nil && !p.place.released {
		p.engine.log.View(func(*channels.ReadTx) { p.place.release() })
	}
}

// ask calls the provider. An answer that comes too late is discarded.
func (p *plannedOpen) ask(c *call, h *handle) (canvas.Opened, error) {
	req := canvas.OpenRequest{
		Session: p.key.session, ExtensionID: p.ext.ID, CanvasID: p.decl.CanvasID, InstanceID: p.key.instance,
		Channel: p.uri, Input: p.input, Saved: bytes.Clone(p.saved), Restored: !p.byAgent,
	}
	if p.live != nil {
		req.Current = p.inst.current
	}
	open := func(ctx context.Context) (canvas.Opened, error) { return p.reg.provider.Open(ctx, req, &h.Handle) }
	return ask(c, open, func(late canvas.Opened) { p.discard(c, late) })
}

// discard closes an instance whose answer does not count, unless it is the one that
// is open, or the provider was asked to open it again.
func (p *plannedOpen) discard(c *call, opened canvas.Opened) {
	if opened.Instance == nil || c.lost.Load() == errSuperseded {
		return
	}
	e, inUse := p.engine, false
	e.log.View(func(*channels.ReadTx) {
		inUse = p.inst != nil && sameInstance(p.inst.current, opened.Instance) && e.instances.at(p.key) == p.inst
	})
	if inUse {
		return
	}
	ctx, cancel := context.WithTimeout(e.tasks.ctx, e.timeouts.Close)
	defer cancel()
	if err := opened.Instance.Close(ctx); err != nil {
		e.logger.Warn("late instance not closed", "id", p.decl.CanvasID, "err", err)
	}
}

// answeredOpen is an open that the provider has answered.
type answeredOpen struct {
	*plannedOpen
	call   *call
	handle *handle
	opened canvas.Opened
}

// accept checks the answer, commits it and publishes it.
func (a *answeredOpen) accept() (canvas.OpenCanvas, error) {
	if a.opened.Instance == nil {
		return canvas.OpenCanvas{}, canvas.Errorf(canvas.CodeHandlerError, "the provider opened nothing")
	}
	if a.opened.Input == nil {
		a.opened.Input = a.input
	} else if err := a.engine.limits.Input(a.decl.Input, a.opened.Input); err != nil {
		return canvas.OpenCanvas{}, canvas.Errorf(canvas.CodeHandlerError, "the input that the provider keeps was refused: %v", err)
	}
	if err := a.engine.limits.ActionValue(a.opened.Answer); err != nil {
		return canvas.OpenCanvas{}, canvas.Errorf(canvas.CodeHandlerError, "the provider's answer was refused: %v", err)
	}
	a.opened.Title, a.opened.Status = a.engine.limits.Line(a.opened.Title), a.engine.limits.Line(a.opened.Status)
	if err := a.engine.limits.Update(a.key.instance, shownBy(a.opened), a.ext.Source()); err != nil {
		return canvas.OpenCanvas{}, canvas.Errorf(canvas.CodeHandlerError, "the provider's answer was refused: %v", err)
	}
	return a.prepare().commit()
}

// shownBy returns what an answer says about the state; absent members keep theirs.
func shownBy(a canvas.Opened) canvas.Update {
	var u canvas.Update
	if a.Title != "" {
		u.Title = ahp.Set(a.Title)
	}
	if a.Status != "" {
		u.Status = ahp.Set(a.Status)
	}
	if a.URL != "" {
		u.URL = ahp.Set(a.URL)
	}
	return u
}

// publish makes a committed open visible. It fails if the answer no longer counts.
func (p *preparedOpen) publish(tx *channels.Tx, changes *catalogChanges) (canvas.OpenCanvas, error) {
	e := p.engine
	if _, ok := sessionState(tx, p.key.session); !ok || e.admission.disposing[p.key.session] {
		return canvas.OpenCanvas{}, sessionNotFound(p.key.session)
	}
	if p.call.Err() != nil {
		return canvas.OpenCanvas{}, ended(p.call)
	}
	// The provider may have marked the instance stale, or withdrawn the declaration.
	if p.handle.life.over() || p.reg.find(p.decl.CanvasID) == nil {
		return canvas.OpenCanvas{}, errUnavailable
	}
	i := p.inst
	if i == nil {
		var err error
		if i, err = p.create(tx, changes); err != nil {
			return canvas.OpenCanvas{}, err
		}
	} else {
		p.reopen(tx)
	}
	p.call.forget()
	if p.byAgent {
		i.cursor = e.events.opened(p.key.session)
		changes.opened = append(changes.opened, i)
	}
	st, _ := i.state(tx)
	open := i.asOpen(st)
	open.Answer = p.opened.Answer
	return open, nil
}

// create adds the new instance with its channel.
func (p *preparedOpen) create(tx *channels.Tx, changes *catalogChanges) (*instance, error) {
	// The provider may have updated the state after it was prepared; the answer wins.
	u, _ := shownBy(p.opened).Over(p.handle.pending).Action().Without(p.state)
	u.Meta = p.handle.earlyMeta()
	st := p.state.Apply(u)
	i := &instance{key: p.key, channel: p.uri, ext: p.ext, canvasID: p.decl.CanvasID, opened: p.at}
	if err := tx.Create(i.channel, p.key.session, st); err != nil {
		return nil, err
	}
	p.engine.instances.add(i)
	p.place.release() // from here on the instance counts itself
	p.adopt(i)
	entry := p.entry
	if u.Title.Present || u.Status.Present {
		entry = entryOf(i.channel, st)
		p.engine.shown.Mark(shownKey + i.channel)
	}
	changes.add(i, entry)
	return i, nil
}

// reopen updates the instance that was open already.
func (p *preparedOpen) reopen(tx *channels.Tx) {
	st, _ := p.inst.state(tx)
	shown := shownBy(p.opened)
	if p.live == nil {
		shown = shown.Over(p.handle.pending)
	}
	u := shown.Action()
	if p.live == nil {
		u.Meta = p.handle.earlyMeta()
	}
	u.Availability = new(session.Ready)
	u.Input = ahp.Clear[ahp.Value]()
	if p.opened.Input != nil {
		u.Input = ahp.Set(p.opened.Input)
	}
	p.adopt(p.inst)
	if u, changed := u.Without(st); changed {
		p.engine.publish(tx, p.inst.channel, u)
	}
}

// adopt makes the provider's answer the instance's.
func (p *preparedOpen) adopt(i *instance) {
	i.reg, i.current = p.reg, p.opened.Instance
	messenger, _ := p.opened.Instance.(canvas.Messenger)
	if p.live != nil {
		i.box.redirect(messenger)
		return
	}
	i.handle = p.handle
	if p.handle.saved != nil {
		p.engine.instances.save(i, p.handle.saved)
	}
	i.box = newMailbox(p.engine.tasks, &p.handle.life, p.engine.limits.MailboxBytes, messenger)
	p.handle.attach(i)
}
