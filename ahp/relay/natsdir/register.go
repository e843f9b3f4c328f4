package natsdir

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// Register adds a registration at this edge and announces it (see relay.Directory). A newer
// one at another edge ends it as soon as that edge has received the announcement.
func (d *Directory) Register(_ context.Context, r relay.Registration) (remove func(), err error) {
	k := key(r.Host)
	l := &local{Registration: r, news: news{V: version, Edge: d.id, Generation: r.Generation, Connection: r.Connection, Since: time.Now().UnixNano()}}
	d.mu.Lock()
	h := d.host(k)
	old := h.local
	if old != nil && l.news.before(old.news) {
		d.mu.Unlock()
		return nil, relay.ErrSuperseded
	}
	if err := d.subscribe(h, l); err != nil {
		d.forget(h)
		d.mu.Unlock()
		return nil, fmt.Errorf("natsdir: cannot subscribe: %w", err)
	}
	h.local = l
	d.mu.Unlock()
	if old != nil {
		old.Superseded(r.Generation)
	}
	d.publish(d.subject("reg", k), l.news)
	return func() { d.remove(h, l) }, nil
}

// subscribe subscribes to a host's subjects. The directory's mutex is locked.
func (d *Directory) subscribe(h *host, l *local) (err error) {
	if h.local != nil {
		l.offers = h.local.offers
	} else if l.offers, err = d.nc.ChanSubscribe(d.subject("host", h.key), d.inbox); err != nil {
		return err
	}
	return d.follow(h)
}

// follow subscribes to a host's registrations. The directory's mutex is locked.
func (d *Directory) follow(h *host) (err error) {
	if h.news == nil {
		h.news, err = d.nc.ChanSubscribe(d.subject("reg", h.key), d.inbox)
	}
	return err
}

// host returns the host with a key. The directory's mutex is locked.
func (d *Directory) host(key string) *host {
	h := d.hosts[key]
	if h == nil {
		h = &host{key: key}
		d.hosts[key] = h
	}
	return h
}

// remove ends a registration, unless another one has replaced it. It reports whether it did.
func (d *Directory) remove(h *host, l *local) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.local != l {
		return false
	}
	h.local = nil
	unsubscribe(l.offers)
	d.forget(h)
	return true
}

// forget removes a host without a registration and watchers. The directory's mutex is
// locked.
func (d *Directory) forget(h *host) {
	if h.local == nil && len(h.watchers) == 0 && d.hosts[h.key] == h {
		delete(d.hosts, h.key)
		unsubscribe(h.news)
		h.news = nil
	}
}

// unsubscribe ends a subscription. An error means that the connection was closed.
func unsubscribe(s *nats.Subscription) {
	if s != nil {
		_ = s.Unsubscribe()
	}
}

// Watch follows a host's registrations at other edges (see relay.Fleet).
func (d *Directory) Watch(name string, registered func(generation int64)) (stop func()) {
	w := &watcher{registered}
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.host(key(name))
	if h.watchers == nil {
		h.watchers = map[*watcher]struct{}{}
	}
	h.watchers[w] = struct{}{}
	_ = d.follow(h) // an error means that the connection was closed
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(h.watchers, w)
		d.forget(h)
	}
}

// receiveNews compares a registration at another edge with the one here. The older one ends:
// here, or there, once that edge receives the announcement of this one.
func (d *Directory) receiveNews(key string, data []byte) {
	var n news
	if err := decode(data, &n); err != nil {
		d.warn("the announcement of a registration was ignored", "err", err)
		return
	}
	d.mu.Lock()
	h := d.hosts[key]
	if h == nil {
		d.mu.Unlock()
		return
	}
	l, watchers := h.local, slices.Collect(maps.Keys(h.watchers))
	d.mu.Unlock()
	switch {
	case l == nil:
	case l.news.before(n):
		if d.remove(h, l) {
			l.Superseded(n.Generation)
		}
	default:
		d.publish(d.subject("reg", key), l.news)
	}
	for _, w := range watchers {
		w.registered(n.Generation)
	}
}

// announceAgain announces all registrations whenever the edges of the fleet might have
// missed some. It ends with ctx.
func (d *Directory) announceAgain(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.again:
		}
		d.announceAll(ctx)
	}
}

// announceAll announces the registrations in a random order, spread over Options.Spread, or
// over a millisecond each.
func (d *Directory) announceAll(ctx context.Context) {
	d.mu.Lock()
	var all []*host
	for _, h := range d.hosts {
		if h.local != nil {
			all = append(all, h)
		}
	}
	d.mu.Unlock()
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	spread := min(d.opts.Spread, time.Duration(len(all))*time.Millisecond)
	began := time.Now().Add(rand.N(d.opts.Spread/20 + 1))
	for i, h := range all {
		due := began.Add(spread * time.Duration(i) / time.Duration(len(all)))
		if wait := time.Until(due); wait > 5*time.Millisecond {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
		if l := d.localOf(h.key); l != nil {
			d.count.announced.Add(1)
			d.publish(d.subject("reg", h.key), l.news)
		}
	}
}
