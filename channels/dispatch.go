package channels

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Dispatch takes a client's dispatchAction (ahp-host.md section 2e): it is
// echoed to its audience, refused to its sender alone, or ignored in silence.
// The action is decoded and checked before the lock is taken, so that what a
// stranger sends costs nobody else time. The error is Update's: the action was
// neither published nor refused.
func (l *Log) Dispatch(from *Subscriber, p ahp.DispatchActionParams) error {
	kind := l.Kind(p.Channel)
	if kind == nil || !from.Caps.Has(kind.Capability) {
		return nil
	}
	enc, err := kind.Actions.Decode(p.Action)
	if err == nil && kind.Check != nil {
		err = kind.Check(from, enc.Action)
	}
	return l.Update(func(tx *Tx) error { tx.dispatch(from, kind, p, enc, err); return nil })
}

// dispatch publishes a decoded action, or refuses it where err says why.
func (tx *Tx) dispatch(from *Subscriber, kind *Kind, p ahp.DispatchActionParams, enc ahp.EncodedAction, err error) {
	origin := ahp.Origin{ClientID: from.ClientID, ClientSeq: p.ClientSeq}
	c := tx.l.channels[p.Channel]
	if c == nil {
		tx.dispatchAbsent(from, kind, p.Channel, &enc, &origin)
		return
	}
	d := Dispatch{From: from, Channel: p.Channel, Origin: origin, Action: enc.Action}
	if err == nil {
		err = tx.permit(c, &d, enc.Row)
	}
	if err == nil && d.replaced {
		enc, err = kind.Actions.Encode(d.Action)
	}
	if err == nil {
		err = tx.publish(c, &enc, &origin, d.Audience)
	}
	if err != nil {
		enc.Raw = p.Action // an alias goes back as it came
		tx.Refuse(from, p.Channel, &enc, &origin, err.Error())
		return
	}
	if kind.Effect != nil {
		tx.Later(func() { kind.Effect(d) })
	}
}

// permit checks the action's type, not its family, then asks the kind.
func (tx *Tx) permit(c *channel, d *Dispatch, row *ahp.ActionRow) error {
	if _, ok := d.From.subs[c]; !ok {
		return fmt.Errorf("not subscribed to this channel: subscribe first")
	}
	if row.From&(ahp.FromClient|ahp.FromProvider) == 0 {
		return fmt.Errorf("%s is host-only", row.Type)
	}
	if !d.From.Caps.Has(row.Capability) {
		return fmt.Errorf("%s needs the capability %q", row.Type, row.Capability)
	}
	if c.kind.Permit == nil {
		return nil
	}
	return c.kind.Permit(&tx.ReadTx, d)
}

func (tx *Tx) dispatchAbsent(from *Subscriber, kind *Kind, uri string, enc *ahp.EncodedAction, origin *ahp.Origin) {
	if kind.Absent == nil || enc.Action == nil {
		return
	}
	if err := kind.Absent(enc.Action); err != nil {
		tx.Refuse(from, uri, enc, origin, err.Error())
	}
}

// Refuse echoes an action to its sender alone, with the reason. It takes a
// sequence number, reduces nothing, and is kept for the sender's client id.
func (tx *Tx) Refuse(from *Subscriber, uri string, enc *ahp.EncodedAction, origin *ahp.Origin, reason string) {
	tx.l.seq++
	e := newEntry(tx.l.seq, uri, enc, origin, reason, Sender(from))
	e.of = tx.l.channels[uri]
	// A refused message is kept with the state changes: it answers a dispatch,
	// and must not fall out under a flood of messages.
	tx.l.states.add(e)
	tx.l.fanout.settle()
	from.Sink.Deliver(e.frame)
}
