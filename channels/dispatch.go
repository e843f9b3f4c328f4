package channels

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Dispatch handles a client's dispatchAction (ahp/PROTOCOL.md section 2e): it
// publishes the action, refuses it to the sender alone, or silently ignores it.
// It decodes and checks the action before it takes the lock, so that a costly
// action does not delay other connections. It returns an error only if Update
// fails; then the action was neither published nor refused.
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

// dispatch publishes a decoded action, or refuses it if err is not nil.
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
	if from.Audit != nil && enc.Row != nil {
		from.Audit(p.Channel, enc.Row.Type, err)
	}
	if err != nil {
		enc.Raw = p.Action // the envelope of a refusal repeats the alias that the client sent
		tx.Refuse(from, p.Channel, &enc, &origin, err.Error())
		return
	}
	if kind.Effect != nil {
		tx.Later(func() { kind.Effect(d) })
	}
}

// permit checks what the action's row demands of its sender, and then calls the
// kind's Permit.
func (tx *Tx) permit(c *channel, d *Dispatch, row *ahp.ActionRow) error {
	if _, ok := d.From.subs[c]; !ok {
		return fmt.Errorf("not subscribed to this channel: subscribe first")
	}
	if row.From&(ahp.FromClient|ahp.FromProvider) == 0 {
		return fmt.Errorf("%s is host-only", row.Type)
	}
	if err := d.From.Rights.Check(row.Type); err != nil {
		return err
	}
	if !d.From.Caps.Has(row.Capability) {
		return fmt.Errorf("%s needs the capability %q", row.Type, row.Capability)
	}
	if c.kind.Permit == nil {
		return nil
	}
	return c.kind.Permit(&tx.ReadTx, d)
}

// dispatchAbsent handles an action for a URI that names no channel.
func (tx *Tx) dispatchAbsent(from *Subscriber, kind *Kind, uri string, enc *ahp.EncodedAction, origin *ahp.Origin) {
	if kind.Absent == nil || enc.Action == nil {
		return
	}
	if err := kind.Absent(enc.Action); err != nil {
		tx.Refuse(from, uri, enc, origin, err.Error())
	}
}

// Refuse returns an action to its sender alone, with the reason. The entry has a
// sequence number and changes no state; it is retained for the sender's client id.
func (tx *Tx) Refuse(from *Subscriber, uri string, enc *ahp.EncodedAction, origin *ahp.Origin, reason string) {
	tx.l.seq++
	e := newEntry(tx.l.seq, uri, enc, origin, reason, Sender(from))
	e.of = tx.l.channels[uri]
	// A refused message is retained with the state changes, because it answers a
	// dispatch: a flood of messages must not evict it.
	tx.l.states.add(e)
	tx.l.fanout.flush()
	from.Sink.Deliver(e.frame)
}
