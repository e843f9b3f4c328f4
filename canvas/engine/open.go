package engine

import (
	"bytes"
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// opening is an open flow on its way through planning, the provider and
// publishing.
type opening struct {
	reg    *Registration
	ext    canvas.Extension // the provider's at planning: a client that declares again changes its name
	decl   *check.Declared
	inst   *instance // nil for a new one
	input  ahp.Value // what the canvas will have been opened with
	handle *handle
	fresh  bool // handle is this flow's own, and its updates wait for the answer
	// reserved says that a place among the open canvases is kept for it.
	reserved bool
	saved    []byte        // what the instance's provider saved before
	shown    canvas.Update // what the provider's answer says of the state

	// From beginKeeping on.
	state canvas.CanvasState // what a new instance will be, or one was
	save  []byte             // what the provider saved meanwhile
	// What else a new instance will be.
	channel string
	opened  time.Time
	row     session.OpenCanvasRef
}

// Open opens a canvas, or opens it again (canvas.md section 3). It is idempotent:
// the same declaration under a live instance id with an absent or equal input is
// that instance, and the provider is not called. Its errors are *[Error], the
// context's, or the store's.
func (s *Engine) Open(ctx context.Context, a canvas.OpenArgs) (canvas.OpenCanvas, error) {
	if a.InstanceID == "" {
		a.InstanceID = s.newID()
	} else if err := canvas.CheckInstanceID(a.InstanceID); err != nil {
		return canvas.OpenCanvas{}, err
	}
	k := key{a.Session, a.InstanceID}
	release, err := s.flows.acquire(ctx, k)
	if err != nil {
		return canvas.OpenCanvas{}, err
	}
	defer release()
	o, open, err := s.planOpen(k, a)
	if o == nil {
		return open, err
	}
	return s.runOpen(ctx, k, o)
}

// runOpen validates, asks the provider, commits and publishes. The key's turn is
// held, no lock is.
func (s *Engine) runOpen(ctx context.Context, k key, o *opening) (open canvas.OpenCanvas, err error) {
	defer func() {
		if o.reserved {
			s.log.View(func(*channels.ReadTx) { s.unreserve(k.session) })
		}
	}()
	if err := s.limits.Input(o.decl.Input, o.input); err != nil {
		return canvas.OpenCanvas{}, err
	}
	c, err := s.begin(ctx, o.reg, s.timeouts.Open)
	if err != nil {
		return canvas.OpenCanvas{}, err
	}
	defer s.end(c)
	defer s.asking(o.inst)()
	req := canvas.OpenRequest{
		Session: k.session, ExtensionID: o.ext.ID, CanvasID: o.decl.CanvasID, InstanceID: k.instance,
		Input: o.input, Saved: bytes.Clone(o.saved),
	}
	if o.handle == nil {
		o.fresh, o.handle = true, newHandle(s, k, o.ext)
	} else {
		req.Current = o.inst.current
	}
	drop := func(opened canvas.Opened) { s.dropOpened(o, opened) }
	opened, err := ask(s, c, func(ctx context.Context) (canvas.Opened, error) {
		return o.reg.provider.Open(ctx, req, &o.handle.Handle)
	}, drop)
	if err == nil {
		o.shown = shownBy(opened)
		if err = s.checkOpened(k, o, opened); err == nil {
			open, err = s.settleOpen(k, c, o, opened)
		}
		if err != nil {
			s.tasks.start(func() { drop(opened) })
		}
	}
	if err != nil && o.fresh {
		o.handle.life.end()
	}
	return open, err
}

// settleOpen makes a provider's answer durable, then visible.
func (s *Engine) settleOpen(k key, c *call, o *opening, opened canvas.Opened) (open canvas.OpenCanvas, err error) {
	isNew := o.inst == nil // the publishing sets it
	if isNew {
		o.channel, o.opened = ahp.SchemeCanvas+":/"+s.newID(), s.now()
	}
	s.log.View(func(tx *channels.ReadTx) { s.beginKeeping(tx, k, o, opened) })
	changes, back := o.openChanges(k)
	kept, err := s.settle(&change{ctx: c, records: changes, otherwise: asBefore, publish: func(tx *channels.Tx, rows *rowChanges) (err error) {
		open, err = s.publishOpen(tx, rows, k, c, o, opened)
		return err
	}})
	if err != nil && kept {
		if isNew {
			back = forget(o.channel)
		}
		s.takeBack(c, k, back)
	}
	return open, err
}

// checkOpened holds a provider's answer against the limits and the url policy.
func (s *Engine) checkOpened(k key, o *opening, opened canvas.Opened) error {
	if opened.Instance == nil {
		return canvas.Errorf(canvas.CodeHandlerError, "the provider opened nothing")
	}
	if err := s.limits.Update(k.instance, o.shown, o.ext.Source()); err != nil {
		return canvas.Errorf(canvas.CodeHandlerError, "the provider's answer was refused: %v", err)
	}
	return nil
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

// publishOpen makes the answer visible.
func (s *Engine) publishOpen(tx *channels.Tx, rows *rowChanges, k key, c *call, o *opening, opened canvas.Opened) (canvas.OpenCanvas, error) {
	if _, ok := sessionState(tx, k.session); !ok || s.disposing[k.session] {
		return canvas.OpenCanvas{}, sessionNotFound(k.session)
	}
	if err := c.over(); err != nil {
		return canvas.OpenCanvas{}, err
	}
	if o.handle.life.over() {
		return canvas.OpenCanvas{}, errUnavailable // its provider said so meanwhile
	}
	if o.reg.find(o.decl.CanvasID) == nil {
		return canvas.OpenCanvas{}, errUnavailable // it was taken back while its provider was asked
	}
	if o.inst == nil {
		if err := s.createInstance(tx, rows, k, o, opened); err != nil {
			return canvas.OpenCanvas{}, err
		}
	} else {
		s.reopenInstance(tx, o, opened)
	}
	c.forget() // here, for the lock is held already
	st, _ := o.inst.state(tx)
	return openCanvas(o.inst.channel, st), nil
}

func (s *Engine) createInstance(tx *channels.Tx, rows *rowChanges, k key, o *opening, opened canvas.Opened) error {
	// The provider may have said more since the state was kept; its answer wins.
	u, _ := o.shown.Over(o.handle.pending).Action().Without(o.state)
	st := o.state.Apply(u)
	i := &instance{key: k, channel: o.channel, ext: o.ext, canvasID: o.decl.CanvasID, opened: o.opened}
	if err := tx.Create(i.channel, k.session, st); err != nil {
		return err
	}
	s.instances.add(i)
	s.byChannel[i.channel] = i
	s.unreserve(k.session) // from here on it is counted as what it is
	o.inst, o.reserved = i, false
	s.adopt(o, opened)
	if u.Title.Present || u.Status.Present {
		o.row = rowOf(i.channel, st)
		s.behind.Mark(shownKey + i.channel)
	}
	rows.add(i, o.row)
	return nil
}

func (s *Engine) reopenInstance(tx *channels.Tx, o *opening, opened canvas.Opened) {
	st, _ := o.inst.state(tx)
	u := o.shown.Action()
	if o.fresh {
		u = o.shown.Over(o.handle.pending).Action()
	}
	ready := session.Ready
	u.Availability.Present, u.Availability.Value = true, &ready
	u.Input = ahp.Clear[ahp.Value]()
	if o.input != nil {
		u.Input = ahp.Set(o.input)
	}
	s.adopt(o, opened)
	if u, any := u.Without(st); any {
		s.append(tx, o.inst.channel, u)
	}
}

// adopt makes the provider's answer what the instance is from now on.
func (s *Engine) adopt(o *opening, opened canvas.Opened) {
	i := o.inst
	i.reg, i.current = o.reg, opened.Instance
	messenger, _ := opened.Instance.(canvas.Messenger)
	if !o.fresh {
		i.box.to(messenger)
		return
	}
	i.handle = o.handle
	i.handle.inst = i
	if i.handle.published != nil {
		close(i.handle.published)
	}
	if o.handle.saved != nil {
		i.saved = o.handle.saved
	}
	i.box = newMailbox(s.tasks, &i.handle.life, s.limits.MailboxBytes, messenger)
}

// dropOpened closes an instance that came with an answer that does not count,
// unless it is the one that is open.
func (s *Engine) dropOpened(o *opening, opened canvas.Opened) {
	if opened.Instance == nil {
		return
	}
	inUse := false
	s.log.View(func(*channels.ReadTx) {
		inUse = o.inst != nil && sameInstance(o.inst.current, opened.Instance) && s.instances.at(o.inst.key) == o.inst
	})
	if inUse {
		return
	}
	ctx, cancel := context.WithTimeout(s.tasks.ctx, s.timeouts.Close)
	defer cancel()
	if err := opened.Instance.Close(ctx); err != nil {
		s.logger.Warn("late instance not closed", "id", o.decl.CanvasID, "err", err)
	}
}
