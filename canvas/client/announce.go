package client

import (
	"maps"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// announceEvery is how often an instance sends what it announces, at most.
const announceEvery = 250 * time.Millisecond

// announcements are what a provider tells people now, as members of the state's _meta. The
// client's mutex guards them.
type announcements struct {
	said    map[string]any // the newest value of each member; nil removes it
	unsent  map[string]any // what the host does not have yet
	sending bool           // a goroutine sends
}

// Announce implements [canvas.Announcer]. It does not wait: the newest values are sent when
// the host lists the canvas, at most four times a second, and again after a resume.
func (i *instance) Announce(name string, value any) error {
	if i.ctx.Err() != nil {
		return canvas.ErrHandleClosed
	}
	i.c.mu.Lock()
	defer i.c.mu.Unlock()
	if i.announced.said == nil {
		i.announced.said = map[string]any{}
	}
	i.announced.said[name] = value
	i.sendAnnounced(map[string]any{name: value})
	return nil
}

// announceAgain sends everything once more: the host forgets it when the canvas becomes
// stale. It is called under the client's mutex.
func (i *instance) announceAgain() { i.sendAnnounced(i.announced.said) }

// sendAnnounced is called under the client's mutex.
func (i *instance) sendAnnounced(members map[string]any) {
	a := &i.announced
	if len(members) == 0 || i.c.closed {
		return
	}
	if a.unsent == nil {
		a.unsent = map[string]any{}
	}
	maps.Copy(a.unsent, members)
	if !a.sending {
		a.sending = true
		i.c.work.Go(i.runAnnounced)
	}
}

// runAnnounced sends until there is nothing left, or nothing can be sent: a reopen or a
// resume begins again.
func (i *instance) runAnnounced() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-i.ctx.Done():
		}
		failed := i.subscribe(i.ctx) != nil
		i.c.mu.Lock()
		a := &i.announced
		members := a.unsent
		if a.unsent = nil; failed || len(members) == 0 {
			a.sending = false
			i.c.mu.Unlock()
			return
		}
		i.c.mu.Unlock()
		if d, err := i.c.DispatchAsync(i.channel, canvas.Updated{Meta: ahp.MustMarshal(members)}); err == nil {
			_ = d.Wait(i.ctx) // refused while the canvas is stale: the reopen sends it again
		}
		pause.Reset(announceEvery)
	}
}
