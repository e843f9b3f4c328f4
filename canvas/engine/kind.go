package engine

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// kind has the engine's functions for canvas channels, which the log calls (the
// Canvas proposal (#297), section 4; canvas/PROTOCOL.md section 4).
type kind struct{ engine *Engine }

func (k *kind) describe() *channels.Kind {
	row := canvas.ChannelKindNamed("canvas")
	return &channels.Kind{
		Scheme: row.Scheme, Capability: row.Capability, Actions: row.Actions, Reduce: row.Reduce,
		Permit: k.permit, PermitUnsubscribed: k.permitProvider, After: k.after, Effect: k.effect, Absent: absent, Left: k.left,
	}
}

// permitProvider lets the client that provides an instance dispatch without being
// subscribed.
func (k *kind) permitProvider(tx *channels.ReadTx, from *channels.Subscriber, uri string) bool {
	state, _ := tx.State(uri)
	st, ok := state.(canvas.CanvasState)
	return ok && st.Provider.Kind == session.SourceClient && st.Provider.ClientID == from.ClientID
}

// permit checks a client's action against the rules of the Canvas proposal (#297),
// section 8. The log has checked that the sender is subscribed, or provides the instance, and has the
// capability.
func (k *kind) permit(tx *channels.ReadTx, d *channels.Dispatch) error {
	state, _ := tx.State(d.Channel)
	st, i := state.(canvas.CanvasState), k.engine.instances.byChannel[d.Channel]
	if i == nil {
		return errors.New("this canvas is closed")
	}
	provides := st.Provider.Kind == session.SourceClient && st.Provider.ClientID == d.From.ClientID
	switch a := d.Action.(type) {
	case canvas.Updated:
		return k.permitUpdate(d, st, i, a, provides)
	case canvas.Message:
		return k.permitMessage(tx, d, st, i, a, provides)
	}
	return nil // every View may ask for a close
}

// permitUpdate allows updates only from the instance's provider, only while the canvas
// is ready or being opened again, and only of the members that a provider sets.
func (k *kind) permitUpdate(d *channels.Dispatch, st canvas.CanvasState, i *instance, a canvas.Updated, provides bool) error {
	switch {
	case !provides:
		return errors.New("only the canvas's provider may update it")
	case st.Availability != session.Ready && !i.reopening:
		return errors.New("this canvas is stale: its provider has not opened it again")
	case a.Availability != nil:
		return errors.New("/availability: only the host sets it")
	case a.Input.Present:
		return errors.New("/input: only the host sets it")
	case a.IsPrivate != nil:
		return errors.New("/isPrivate: only people set it")
	}
	u, changed := k.engine.limits.CleanUpdate(canvas.Update{Title: a.Title, Status: a.Status, URL: a.URL})
	if err := k.engine.limits.Update(st.InstanceID, u, st.Provider); err != nil {
		return err // refused as it was sent
	}
	if changed || a.Meta != nil {
		a.Title, a.Status, a.Meta = u.Title, u.Status, canvas.Announced(st, a.Meta, k.engine.now())
		d.Replace(a)
	}
	return nil
}

// permitMessage also sets the audience. A provider's message goes to all subscribers; a
// View's goes to the provider, and to the View itself as its echo.
func (k *kind) permitMessage(tx *channels.ReadTx, d *channels.Dispatch, st canvas.CanvasState, i *instance, a canvas.Message, provides bool) error {
	if err := k.engine.limits.DecodedMessage(a.Payload); err != nil {
		return fmt.Errorf("/payload: %w", err)
	}
	if st.Availability != session.Ready {
		return errors.New("this canvas is stale: its provider cannot be reached")
	}
	if provides {
		return nil
	}
	if d.From.Rights.Of(a.ActionType()) == access.Greeting && !canvas.IsGreeting(a.Payload) {
		return d.From.Rights.Deny(a.ActionType())
	}
	d.Audience = channels.Sender(d.From)
	if id := st.Provider.ClientID; st.Provider.Kind == session.SourceClient {
		d.Audience.Clients = []string{id}
		if !tx.ClientSubscribed(id, d.Channel) {
			if d.Also = k.engine.Clients.connection(id); d.Also == nil {
				return errors.New("the canvas's provider cannot be reached now")
			}
		}
		return nil
	}
	if !i.box.reserve(a.Payload) {
		return errors.New("the canvas's provider has not taken earlier messages yet: send this one again later")
	}
	return nil
}

func (k *kind) after(tx *channels.Tx, uri string, before, after channels.State, _ ahp.Action) {
	i := k.engine.instances.byChannel[uri]
	if i == nil {
		return
	}
	was, is := before.(canvas.CanvasState), after.(canvas.CanvasState)
	k.engine.catalog.mirror(tx, i, was, is)
	if !sameText(was.Title, is.Title) || !sameText(was.Status, is.Status) {
		k.engine.shown.Mark(shownKey + uri)
	}
	k.engine.noteChange(i, was, is)
}

// noteChange adds to the history what a change of state tells people. That a provider can
// be reached is news only if it could not before.
func (e *Engine) noteChange(i *instance, was, is canvas.CanvasState) {
	if was.Title != nil && !sameText(was.Title, is.Title) {
		e.happened(i, is, canvas.ByCanvas, "changed its title")
	}
	if lost := is.Availability == session.Stale; lost != i.lost && was.Availability != is.Availability {
		i.lost = lost
		e.happened(i, is, canvas.Actor{Kind: canvas.ActorHost}, map[bool]string{true: "lost the connection to the canvas's provider", false: "reached the canvas's provider again"}[lost])
	}
}

// effect starts what an accepted action asks for: a close flow, or the delivery of a
// message. It does not wait.
func (k *kind) effect(d channels.Dispatch) {
	switch a := d.Action.(type) {
	case canvas.CloseRequested:
		if i := k.instanceOf(d.Channel); i == nil {
			return
		} else if undo := a.Undo(); undo > 0 {
			k.engine.tasks.start(func() { k.engine.closeUnlessUndone(i, d.From, undo) })
		} else {
			k.engine.tasks.start(func() { k.engine.closeForPerson(i, k.engine.actor(d.From)) })
		}
	case canvas.Message:
		if i := k.instanceOf(d.Channel); i != nil && i.ext.ClientID == "" {
			i.box.message(viewOf(d.From), a.Payload)
		}
	}
}

// left reports to the instance that a View disconnected. Client providers receive no such
// report.
func (k *kind) left(sub *channels.Subscriber, uri string) {
	if i := k.instanceOf(uri); i != nil && i.ext.ClientID == "" {
		i.box.viewGone(viewOf(sub))
	}
}

// instanceOf returns the instance of a channel, or nil.
func (k *kind) instanceOf(channel string) (i *instance) {
	k.engine.log.View(func(*channels.ReadTx) { i = k.engine.instances.byChannel[channel] })
	return i
}

// SessionOf returns the session of a canvas's channel, "" if the canvas is not open.
func (e *Engine) SessionOf(channel string) (uri string) {
	e.log.View(func(*channels.ReadTx) {
		if i := e.instances.byChannel[channel]; i != nil {
			uri = i.key.session
		}
	})
	return uri
}

func viewOf(s *channels.Subscriber) canvas.View {
	return canvas.View{Conn: s.ID, ClientID: s.ClientID, Role: s.Role}
}

// absent refuses a message to a canvas that does not exist. An update or a request to
// close is ignored (the Canvas proposal (#297), section 8).
func absent(a ahp.Action) error {
	if _, ok := a.(canvas.Message); ok {
		return errors.New("no canvas is open on this channel")
	}
	return nil
}
