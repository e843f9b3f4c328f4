package natsdir

import (
	"context"
	"time"
)

// maxEdges limits the edges that an edge remembers.
const maxEdges = 1024

// lostAfter is the number of heartbeats after which a silent edge is lost.
const lostAfter = 3

// beat announces this edge regularly until ctx is canceled.
func (d *Directory) beat(ctx context.Context) {
	tick := time.NewTicker(d.opts.Heartbeat)
	defer tick.Stop()
	for {
		d.announceEdge()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.forgetEdges()
			if !d.nc.IsConnected() {
				d.notAccepted(d.nc.LastError())
			}
		}
	}
}

func (d *Directory) announceEdge() {
	d.mu.Lock()
	leaving := d.leaving
	d.mu.Unlock()
	d.publish(d.subject("edge", ""), presence{V: version, Edge: d.id, Up: d.upSeconds(), Leaving: leaving})
}

// forgetEdges removes the edges that are lost.
func (d *Directory) forgetEdges() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, heard := range d.edges {
		if time.Since(heard) > lostAfter*d.opts.Heartbeat {
			delete(d.edges, id)
		}
	}
}

// receivePresence notes a sign of life. If the edge is unknown but did not just start,
// it was cut off, and what both announced meanwhile was lost.
func (d *Directory) receivePresence(data []byte) {
	var p presence
	if err := decode(data, &p); err != nil {
		d.warn("the announcement of an edge was ignored", "err", err)
		return
	}
	if p.Edge == d.id {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.edges[p.Edge]
	switch {
	case p.Leaving:
		if known {
			d.unsettled = time.Now()
			delete(d.edges, p.Edge)
		}
		return
	case known:
	case len(d.edges) >= maxEdges:
		return
	default:
		d.unsettled = time.Now()
		if time.Duration(p.Up)*time.Second >= lostAfter*d.opts.Heartbeat {
			d.announceSoon()
		}
	}
	d.edges[p.Edge] = time.Now()
}

// announceSoon has announceAgain announce all registrations.
func (d *Directory) announceSoon() {
	select {
	case d.again <- struct{}{}:
	default:
	}
}

// connected is called when a connection to NATS was made.
func (d *Directory) connected() {
	<-d.ready
	d.mu.Lock()
	d.unsettled, d.remedy = time.Now(), ""
	d.mu.Unlock()
	d.opts.Logger.Info("connected to NATS")
	d.announceSoon()
	d.announceEdge()
}

func (d *Directory) disconnected() {
	d.count.disconnects.Add(1)
	d.opts.Logger.Warn("NATS was lost; hosts at other edges cannot be reached until it is back")
}

// Unsettled returns when hosts were last moving between edges (see relay.Fleet).
func (d *Directory) Unsettled() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unsettled
}

// Leave announces that this edge drains.
func (d *Directory) Leave() (others bool) {
	d.mu.Lock()
	d.leaving = true
	others = len(d.edges) > 0
	d.mu.Unlock()
	d.announceEdge()
	return others
}
