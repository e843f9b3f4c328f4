package channels

import (
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
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
	var enc ahp.EncodedAction
	var err error
	begun := time.Now()
	heavy.Do(len(p.Action), func() { enc, err = kind.decode(p.Action) })
	if err == nil && kind.Check != nil {
		err = kind.Check(from, enc.Action)
	}
	var refusal []byte
	if err != nil {
		refusal = beginRefusal(p)
	}
	took, owner, deliveries := time.Since(begun), "", 0
	updated := l.Update(func(tx *Tx) error {
		tx.deliveries, tx.refusal = 0, refusal
		tx.dispatch(from, kind, p, enc, err)
		deliveries, owner = tx.deliveries, tx.owner(p.Channel)
		return nil
	})
	if m, ok := from.Sink.(Meter); ok && owner != "" {
		m.Dispatched(Cost{Owner: owner, Deliveries: deliveries, Checked: took, Message: err == nil && enc.Row.Retain == ahp.RetainMessage})
	}
	return updated
}

// decode decodes and cleans a client's action.
func (k *Kind) decode(action ahp.Value) (ahp.EncodedAction, error) {
	enc, err := k.Actions.Decode(action)
	if len(action) > maxAction {
		err = fmt.Errorf("the action has %d bytes, at most %d are allowed", len(action), maxAction)
	}
	if err != nil || k.Clean == nil {
		return enc, err
	}
	cleaned, changed := k.Clean(enc.Action)
	if !changed {
		return enc, nil
	}
	if enc, err = k.Actions.Encode(cleaned); err == nil {
		enc.Raw = enc.Bytes()
	}
	return enc, err
}

// owner returns the channel that owns uri, or uri if none does, or "" if there is no such
// channel.
func (tx *Tx) owner(uri string) string {
	c := tx.l.channels[uri]
	switch {
	case c == nil:
		return ""
	case c.parent != "":
		return c.parent
	}
	return uri
}

// RefuseDispatch refuses a client's dispatchAction with a reason, without decoding the
// action. It ignores the dispatch if Dispatch would.
func (l *Log) RefuseDispatch(from *Subscriber, p ahp.DispatchActionParams, reason string) error {
	kind := l.Kind(p.Channel)
	if kind == nil || !from.Caps.Has(kind.Capability) {
		return nil
	}
	refusal := beginRefusal(p)
	return l.Update(func(tx *Tx) error {
		tx.refusal = refusal
		if tx.l.channels[p.Channel] != nil {
			origin := ahp.Origin{ClientID: from.ClientID, ClientSeq: p.ClientSeq}
			tx.Refuse(from, p.Channel, &ahp.EncodedAction{Raw: p.Action}, &origin, reason)
		}
		return nil
	})
}

// refusalSpace is the space that a begun refusal has for its reason.
const refusalSpace = 1 << 10

// beginRefusal begins the entry that refuses a long action, which it repeats: copying it
// under the log's lock would delay every client. It returns nil for other actions.
func beginRefusal(p ahp.DispatchActionParams) (b []byte) {
	if len(p.Action) < heavy.From {
		return nil
	}
	heavy.Do(len(p.Action), func() {
		action := ahp.EncodedAction{Raw: p.Action}
		b = beginEntry(make([]byte, 0, entrySize(p.Channel, &action)+refusalSpace), p.Channel, &action)
	})
	return b
}

// maxAction limits a client's action in bytes: every subscriber of its channel receives
// it, and the queue of each is limited.
const maxAction = 5 << 18

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
		err = tx.publish(c, &enc, &origin, d.Audience, d.From, d.Also)
	}
	if a, ok := from.Sink.(Auditor); ok && enc.Row != nil {
		a.Audit(p.Channel, enc.Row.Type, err)
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
	if !tx.Subscribed(d.From, d.Channel) && (c.kind.PermitUnsubscribed == nil || !c.kind.PermitUnsubscribed(&tx.ReadTx, d.From, d.Channel)) {
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
// sequence number, unless its kind is Unnumbered, and changes no state; it is retained for the sender's client id.
func (tx *Tx) Refuse(from *Subscriber, uri string, enc *ahp.EncodedAction, origin *ahp.Origin, reason string) {
	kind := tx.l.Kind(uri)
	var e *Entry
	if b := tx.refusal; b != nil {
		e, tx.refusal = endEntry(b, nil, tx.number(kind), uri, enc, origin, reason, Sender(from)), nil
	} else {
		e = newEntry(tx.number(kind), uri, enc, origin, reason, Sender(from))
	}
	e.of = tx.l.channels[uri]
	e.frame.Init(tx.l.memory, budget.Queues, int64(e.frame.Size()))
	// A refused message is retained with the state changes, because it answers a
	// dispatch: a flood of messages must not evict it.
	if kind == nil || !kind.Unnumbered {
		tx.l.states.add(e)
	}
	tx.l.fanout.flush()
	from.Sink.Deliver(e.frame)
}
