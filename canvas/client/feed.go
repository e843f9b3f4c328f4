package client

import "github.com/ahp-canvas/ahp-canvas/session"

// feed applies what the host publishes to the mirror, then notifies watches, the
// instance that it is for, and the sender of the action. The client's mutex guards
// it.
type feed struct {
	mirror     mirror
	watches    watches
	dispatches dispatches
	provided   *provided
}

func newFeed(c *Client) feed {
	return feed{
		mirror: newMirror(), watches: newWatches(&c.mu, c.opts.WatchBytes), dispatches: newDispatches(&c.mu, &c.opts),
		provided: &c.provided,
	}
}

// apply handles an envelope.
func (f *feed) apply(e envelope) error {
	if err := f.mirror.advance(e.ServerSeq); err != nil {
		return err
	}
	if e.RejectionReason != "" {
		f.publish(actionEvent(EventRefused, e))
		f.dispatches.echoed(e)
		return nil
	}
	ev, ok, err := f.mirror.apply(e)
	if err != nil {
		return err
	}
	if ok {
		f.publish(ev)
	}
	f.provided.deliver(e) // also on a channel to which the client is not subscribed
	f.dispatches.echoed(e)
	return nil
}

// replay applies the actions that were missed, and drops the channels that no longer
// exist. If an action cannot be applied, the mirror must not be resumed from: the
// next handshake is initialize.
func (f *feed) replay(envelopes []envelope, missing []string) error {
	for _, e := range envelopes {
		if err := f.apply(e); err != nil {
			f.mirror.restart(0)
			return err
		}
	}
	for _, uri := range missing {
		f.drop(uri)
	}
	return nil
}

// restart replaces the followed channels by snapshots, and drops each channel in
// uris that has no snapshot.
func (f *feed) restart(uris []string, snapshots []decodedSnapshot, seq int64) {
	f.mirror.restart(seq)
	has := map[string]bool{}
	for _, s := range snapshots {
		has[s.Resource] = true
		f.mirror.last = max(f.mirror.last, s.FromSeq)
		if ch := f.mirror.channels[s.Resource]; ch != nil {
			f.publish(f.mirror.install(ch, s))
		}
	}
	for _, uri := range uris {
		if !has[uri] {
			f.drop(uri)
		}
	}
}

// drop removes a channel, if the client follows it.
func (f *feed) drop(uri string) {
	if f.mirror.channels[uri] != nil {
		f.publish(f.mirror.drop(uri))
	}
}

// publish adds an event to the watches. The mirror has changed before.
func (f *feed) publish(ev Event) {
	f.watches.push(ev)
	if _, ok := ev.State.(session.State); ok {
		f.provided.catalogChanged(ev.Channel)
	}
}
