package natsdir

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// Directory is a relay.Directory that the edges of a fleet share. Make it with Open and end
// it with Close, after its edge.
type Directory struct {
	opts    Options
	id      string // of this run of the edge
	started time.Time
	nc      *nats.Conn
	inbox   chan *nats.Msg
	again   chan struct{} // receives when the registrations have to be announced again
	ready   chan struct{} // closed when nc is set
	closed  chan struct{} // closed when the connection has ended
	stop    context.CancelFunc
	wg      sync.WaitGroup
	count   counters

	mu        sync.Mutex // guards the fields below; no callback runs under it
	hosts     map[string]*host
	edges     map[string]time.Time // when other edges last sent a sign of life, by id
	unsettled time.Time
	leaving   bool
	logged    time.Time
	remedy    string // why NATS does not accept this edge, and what to do; "" if it did last
}

var _ relay.Fleet = (*Directory)(nil)

// host is a host that is registered here, or that has lanes here, by its key.
type host struct {
	key      string
	local    *local
	watchers map[*watcher]struct{}
	news     *nats.Subscription
}

// local is a registration at this edge.
type local struct {
	relay.Registration
	news   news
	offers *nats.Subscription
}

type watcher struct{ registered func(generation int64) }

// idLength is the length of an edge's id.
const idLength = 24

// Open connects to NATS. It does not wait for a server: one that cannot be reached now is
// dialed until Close.
func Open(opts Options) (*Directory, error) {
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	var id [idLength / 2]byte
	_, _ = rand.Read(id[:]) // never fails
	d := &Directory{
		opts: opts, id: hex.EncodeToString(id[:]), started: time.Now(), inbox: make(chan *nats.Msg, opts.Pending), again: make(chan struct{}, 1),
		ready: make(chan struct{}), closed: make(chan struct{}), hosts: map[string]*host{}, edges: map[string]time.Time{}, unsettled: time.Now(),
	}
	nc, err := nats.Connect(strings.Join(opts.URLs, ","), d.natsOptions()...)
	if err != nil {
		return nil, fmt.Errorf("natsdir: cannot use NATS: %w", err)
	}
	d.nc = nc
	close(d.ready)
	if _, err := nc.ChanSubscribe(d.subject("edge", ""), d.inbox); err != nil {
		nc.Close()
		return nil, fmt.Errorf("natsdir: cannot subscribe: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.wg.Go(func() { d.receive(ctx) })
	d.wg.Go(func() { d.announceAgain(ctx) })
	d.wg.Go(func() { d.beat(ctx) })
	return d, nil
}

// Close ends the connection to NATS and waits until all goroutines have returned.
func (d *Directory) Close() {
	d.stop()
	d.nc.Close()
	<-d.closed
	d.wg.Wait()
}

// subject returns a subject of the fleet.
func (d *Directory) subject(kind, key string) string {
	if key == "" {
		return d.opts.Prefix + "." + kind
	}
	return d.opts.Prefix + "." + kind + "." + key
}

// receive handles all messages of the fleet.
func (d *Directory) receive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-d.inbox:
			kind, key, _ := strings.Cut(strings.TrimPrefix(m.Subject, d.opts.Prefix+"."), ".")
			switch kind {
			case "host":
				d.receiveOffer(key, m)
			case "reg":
				d.receiveNews(key, m.Data)
			case "edge":
				d.receivePresence(m.Data)
			}
		}
	}
}

// publish sends a payload. An error means that NATS cannot be reached; the message is lost.
func (d *Directory) publish(subject string, p any) { _ = d.nc.Publish(subject, ahp.MustMarshal(p)) }

// Signal delivers an offer to the host, at this edge or another one (see relay.Directory).
func (d *Directory) Signal(ctx context.Context, host string, o relay.Offer) (int64, error) {
	key := key(host)
	if l := d.localOf(key); l != nil {
		return l.Generation, l.Signal(o)
	}
	if !d.nc.IsConnected() {
		d.count.unavailable.Add(1)
		return 0, relay.ErrUnavailable
	}
	d.count.sent.Add(1)
	within, cancel := context.WithTimeout(ctx, d.opts.Timeout)
	defer cancel()
	m, err := d.nc.RequestWithContext(within, d.subject("host", key), ahp.MustMarshal(offer{version, o.Lane, o.Secret, o.Edge}))
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		d.count.offline.Add(1)
		return 0, relay.ErrOffline
	case err != nil && ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		d.count.unanswered.Add(1)
		return 0, relay.ErrUnavailable
	}
	d.count.answered.Add(1)
	return d.answered(m.Data)
}

// answered returns the result of an offer.
func (d *Directory) answered(data []byte) (int64, error) {
	var a answer
	if err := decode(data, &a); err != nil {
		return 0, err
	}
	switch a.Error {
	case "":
		return a.Generation, nil
	case errorBusy:
		return 0, relay.ErrBusy
	case errorOffline:
		return 0, relay.ErrOffline
	case errorEdge:
		return 0, errors.New("natsdir: another edge does not accept this edge's URL; give all edges of the fleet the same list")
	case errorOffer:
		return 0, errors.New("natsdir: another edge does not accept the offer; it can be of another version")
	}
	return 0, errors.New("natsdir: another edge refused the offer for a reason that this version does not know")
}

func (d *Directory) localOf(key string) *local {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[key]; h != nil {
		return h.local
	}
	return nil
}

// receiveOffer passes an offer on to a host that is registered here.
func (d *Directory) receiveOffer(key string, m *nats.Msg) {
	d.count.received.Add(1)
	var o offer
	if err := decode(m.Data, &o); err != nil {
		d.warn("an offer was refused", "err", err)
		d.respond(m, answer{V: version, Error: errorOffer})
		return
	}
	l := d.localOf(key)
	switch {
	case l == nil:
		d.respond(m, answer{V: version, Error: errorOffline})
	case !d.opts.Edges.Allows(o.Edge):
		d.count.refused.Add(1)
		d.warn("an offer was refused: its edge is not in the list of this fleet's edges", "host", l.Host, "lane", o.Lane)
		d.respond(m, answer{V: version, Error: errorEdge})
	case l.Signal(relay.Offer{Lane: o.Lane, Secret: o.Secret, Edge: o.Edge}) != nil:
		d.respond(m, answer{V: version, Error: errorBusy})
	default:
		d.respond(m, answer{V: version, Generation: l.Generation})
	}
}

func (d *Directory) respond(m *nats.Msg, a answer) {
	if m.Reply != "" {
		d.publish(m.Reply, a)
	}
}

// warn logs what others cause, at most once a second.
func (d *Directory) warn(text string, args ...any) {
	d.mu.Lock()
	now := time.Now()
	tooSoon := now.Sub(d.logged) < time.Second
	if !tooSoon {
		d.logged = now
	}
	d.mu.Unlock()
	if !tooSoon {
		d.opts.Logger.Warn(text, args...)
	}
}

// failed logs what the NATS client reports: a server refuses a subject, or messages were
// dropped.
func (d *Directory) failed(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrSlowConsumer) {
		d.count.dropped.Add(1)
	}
	if remedy(err) != "" {
		d.notAccepted(err)
		return
	}
	d.warn("NATS reports an error", "err", err)
}

// upSeconds is how long this edge has run.
func (d *Directory) upSeconds() int64 { return int64(math.Floor(time.Since(d.started).Seconds())) }
