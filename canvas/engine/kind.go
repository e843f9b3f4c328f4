package engine

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// kind is the canvas channel (#297 section 4, canvas.md section 4).
func (s *Engine) kind() *channels.Kind {
	return &channels.Kind{
		Scheme:     ahp.SchemeCanvas,
		Capability: ahp.CapabilityCanvas,
		Actions:    canvas.Actions,
		Reduce:     canvas.Reduce,
		Permit:     s.permit,
		After:      s.after,
		Effect:     s.effect,
		Absent:     absent,
		Left:       s.left,
	}
}

// permit holds a client's action against the rules of #297 section 8. That its
// sender is subscribed and declared the capability, the log has checked.
func (s *Engine) permit(tx *channels.ReadTx, d *channels.Dispatch) error {
	state, _ := tx.State(d.Channel)
	st, i := state.(canvas.CanvasState), s.byChannel[d.Channel]
	if i == nil {
		return errors.New("this canvas is closed")
	}
	provides := st.Provider.Kind == session.SourceClient && st.Provider.ClientID == d.From.ClientID
	switch a := d.Action.(type) {
	case canvas.Updated:
		return s.permitUpdate(st, i, a, provides)
	case canvas.Message:
		return s.permitMessage(tx, d, st, i, a, provides)
	}
	return nil // a close may be asked for by everybody who renders
}

// permitUpdate: only the resolved provider, of a canvas that is ready or that it is
// just opening again, and only what is the provider's to say.
func (s *Engine) permitUpdate(st canvas.CanvasState, i *instance, a canvas.Updated, provides bool) error {
	switch {
	case !provides:
		return errors.New("only the canvas's provider may update it")
	case st.Availability != session.Ready && !i.asked:
		return errors.New("this canvas is stale: its provider has not opened it again")
	case a.Availability.Present:
		return errors.New("/availability: is the host's to say")
	case a.Input.Present:
		return errors.New("/input: is the host's to say")
	}
	return s.limits.Update(st.InstanceID, canvas.Update{Title: a.Title, Status: a.Status, URL: a.URL}, st.Provider)
}

// permitMessage also decides who hears it: what a provider says all subscribers
// do; what a View says, its sender (as the echo) and the provider.
func (s *Engine) permitMessage(tx *channels.ReadTx, d *channels.Dispatch, st canvas.CanvasState, i *instance, a canvas.Message, provides bool) error {
	if err := s.limits.DecodedMessage(a.Payload); err != nil {
		return fmt.Errorf("/payload: %w", err)
	}
	if st.Availability != session.Ready {
		return errors.New("this canvas is stale: its provider is not there now")
	}
	if provides {
		return nil
	}
	d.Audience = channels.Sender(d.From)
	if id := st.Provider.ClientID; st.Provider.Kind == session.SourceClient {
		if !tx.ClientSubscribed(id, d.Channel) {
			return errors.New("the canvas's provider does not listen on this channel")
		}
		d.Audience.Clients = []string{id}
		return nil
	}
	if !i.box.reserve(a.Payload) {
		return errors.New("the canvas's provider has not taken earlier messages yet: send this one again later")
	}
	return nil
}

func (s *Engine) after(tx *channels.Tx, uri string, before, after channels.State, _ ahp.Action) {
	if i := s.byChannel[uri]; i != nil {
		was, is := before.(canvas.CanvasState), after.(canvas.CanvasState)
		s.mirrorState(tx, i, was, is)
		if !sameText(was.Title, is.Title) || !sameText(was.Status, is.Status) {
			s.behind.Mark(shownKey + uri)
		}
	}
}

// effect hands on what was accepted: a close is started, a message put into the
// provider's mailbox. Neither waits.
func (s *Engine) effect(d channels.Dispatch) {
	switch a := d.Action.(type) {
	case canvas.CloseRequested:
		s.closeAsked(d.Channel)
	case canvas.Message:
		if i := s.at(d.Channel); i != nil && i.ext.ClientID == "" {
			i.box.message(viewOf(d.From), a.Payload)
		}
	}
}

// left tells the instance that a View is gone. A client provider hears of nobody.
func (s *Engine) left(sub *channels.Subscriber, uri string) {
	if i := s.at(uri); i != nil && i.ext.ClientID == "" {
		i.box.viewGone(viewOf(sub))
	}
}

func (s *Engine) at(channel string) (i *instance) {
	s.log.View(func(*channels.ReadTx) { i = s.byChannel[channel] })
	return i
}

func viewOf(s *channels.Subscriber) canvas.View { return canvas.View{Conn: s.ID, ClientID: s.ClientID} }

// absent: a message to a canvas that is not there is refused; an update or a
// request to close is ignored (#297 section 8).
func absent(a ahp.Action) error {
	if _, ok := a.(canvas.Message); ok {
		return errors.New("no canvas is open on this channel")
	}
	return nil
}
