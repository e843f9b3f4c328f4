package engine

import (
	"context"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// key names an instance: its id is unique in its session only.
type key struct{ session, instance string }

// instance is what the engine knows about an open canvas in addition to its
// channel's state. Its fields are guarded by the log's mutex, except those that
// never change and those that guard themselves.
type instance struct {
	key      key
	channel  string
	ext      canvas.Extension
	canvasID string
	opened   time.Time   // when it was opened first
	closing  atomic.Bool // a person has asked to close it

	reg     *Registration   // that opened it last
	current canvas.Instance // the provider's answer; kept while stale, for its content
	handle  *handle         // of current; ended while stale
	box     *mailbox        // to current; closed while stale
	saved   []byte          // the provider's data
	titles  titlePace       // of its title in the catalog
	said    announcements   // of the provider, for people
	cursor  int64           // of the session's events when an agent opened it last

	undoable *undoable // the close that a person can still undo; nil if there is none

	reopening  bool // its provider is being asked to open it again
	unanswered bool // it was asked, and became unreachable before it answered
	cut        bool // a person waits for its close: no call of an earlier flow lasts longer

	lost bool // the history says that its provider cannot be reached

	notes  atomic.Int64           // that the provider added to the history
	caller atomic.Pointer[string] // the agent whose action runs, or ran last

	saving sync.Mutex // held during a commit of saved, the private flag or an undoable close: one at a time
}

// disconnect ends everything that could still come from or go to the provider.
func (i *instance) disconnect() {
	i.handle.life.end()
	i.box.close()
	i.titles.stop()
	i.said.stop()
}

// announceEvery is how often people receive what a provider announces, at most.
const announceEvery = 250 * time.Millisecond

// announcements are what a provider tells people now, as members of the state's _meta.
// They are published at a limited rate; the last of each counts. Guarded by the log's
// mutex.
type announcements struct {
	waiting map[string]any // values that are not published yet; nil removes a member
	next    time.Time      // when the next change may be published

	attention canvas.Attention // the newest
	timer     *time.Timer      // of the next change; nil if none waits
}

func (a *announcements) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.timer, a.waiting, a.attention = nil, nil, canvas.Attention{}
}

// announce publishes a member of an instance's _meta, now or soon.
func (e *Engine) announce(tx *channels.Tx, i *instance, name string, value any) {
	a := &i.said
	if waits, ok := value.(canvas.Attention); ok {
		if waits.Reason != a.attention.Reason {
			a.attention = canvas.Attention{Reason: waits.Reason, Since: e.now().UTC().Format(time.RFC3339)}
		}
		value = a.attention
	} else if name == canvas.MetaAttention {
		a.attention = canvas.Attention{}
	}
	if a.waiting == nil {
		a.waiting = map[string]any{}
	}
	a.waiting[name] = value
	if a.timer != nil {
		return
	}
	wait := a.next.Sub(e.now())
	if wait <= 0 {
		e.publishAnnouncements(tx, i)
		return
	}
	var timer *time.Timer
	timer = e.tasks.after(wait, func() {
		e.update(func(tx *channels.Tx) {
			if a.timer == timer { // not stopped while it fired
				a.timer = nil
				e.publishAnnouncements(tx, i)
			}
		})
	})
	a.timer = timer
}

func (e *Engine) publishAnnouncements(tx *channels.Tx, i *instance) {
	a := &i.said
	a.next = e.now().Add(announceEvery)
	st, ok := i.state(tx)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.waiting)) {
		if u, changed := canvas.SetMeta(name, a.waiting[name]).Without(st); changed {
			e.publish(tx, i.channel, u)
		}
	}
	a.waiting = nil
}

// silence stops the announcements of an instance whose handle ends, and returns the _meta
// that removes them from its state; nil if there are none.
func (i *instance) silence(st canvas.CanvasState) ahp.Value {
	i.said.stop()
	u, changed := canvas.Updated{Meta: ahp.Value(`{"` + canvas.MetaAttention + `":null,"` + canvas.MetaProgress + `":null,"` + canvas.MetaCopy + `":null}`)}.Without(st)
	if !changed {
		return nil
	}
	return u.Meta
}

func (i *instance) state(tx stateReader) (canvas.CanvasState, bool) {
	state, _ := tx.State(i.channel)
	st, ok := state.(canvas.CanvasState)
	return st, ok
}

// SetPrivate is the method x-ahp-canvas/setPrivate: a person hides an open canvas from
// agents that look, or shows it again. The decision is durable when it returns, and the
// canvas keeps it until it is closed (canvas/PROTOCOL.md section 7.2).
func (e *Engine) SetPrivate(ctx context.Context, from *channels.Subscriber, p canvas.SetPrivateParams) (ahp.None, error) {
	if err := viewOf(from).MustBePerson(); err != nil {
		return ahp.None{}, asWire(err)
	}
	var i *instance
	e.log.View(func(tx *channels.ReadTx) {
		if tx.ClientSubscribed(from.ClientID, p.Channel) {
			i = e.instances.byChannel[p.Channel]
		}
	})
	if i == nil {
		return ahp.None{}, ahp.ErrNotFound
	}
	i.saving.Lock()
	defer i.saving.Unlock()
	record := channels.Change{Key: privateKey + i.channel, Value: []byte("{}")}
	if !p.IsPrivate {
		record = channels.Change{Key: record.Key, Delete: true}
	}
	_, err := e.commits.run(&change{
		ctx: ctx, records: []channels.Change{record}, failure: nothingChanged,
		publish: func(tx *channels.Tx, _ *catalogChanges) error {
			st, ok := i.state(tx)
			if u, changed := (canvas.Updated{IsPrivate: &p.IsPrivate}).Without(st); ok && changed {
				e.publish(tx, i.channel, u)
				e.happened(i, st, actorOf(from), map[bool]string{true: "made the canvas private: agents cannot look at it", false: "let agents look at the canvas again"}[p.IsPrivate])
			}
			return nil
		},
	})
	return ahp.None{}, asWire(err)
}

// asWire returns a *canvas.Error as the JSON-RPC error that carries it.
func asWire(err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Wire()
	}
	return err
}

// Live is an open canvas whose provider is reachable.
type Live struct {
	// State is the state of its channel.
	State canvas.CanvasState
	// Instance is the provider's.
	Instance canvas.Instance
	// Life ends when the canvas becomes stale and when it is closed. Opened again, it has
	// another one.
	Life context.Context
}

// Live returns the open canvas of a channel. ok is false while it is stale.
func (c *Content) Live(channel string) (live Live, ok bool) {
	c.engine.log.View(func(tx *channels.ReadTx) {
		i := c.engine.instances.byChannel[channel]
		if i == nil || i.current == nil || i.handle == nil || i.handle.life.over() {
			return
		}
		st, known := i.state(tx)
		if !known || st.Availability != session.Ready {
			return
		}
		live, ok = Live{st, i.current, i.handle.life.context()}, true
	})
	return live, ok
}

// Exists reports whether a channel is that of an open canvas, which can be stale.
func (c *Content) Exists(channel string) (ok bool) {
	c.engine.log.View(func(*channels.ReadTx) { ok = c.engine.instances.byChannel[channel] != nil })
	return ok
}

// Fetch reads one resource of an open canvas for the host itself. The type of text has a
// charset. Errors are those of CanvasReadResource. The caller limits how many run at once.
func (c *Content) Fetch(ctx context.Context, channel string, req canvas.ReadRequest) (canvas.Content, error) {
	target, err := c.readable(func(*channels.ReadTx) (*instance, bool) {
		i := c.engine.instances.byChannel[channel]
		return i, i != nil
	})
	if err != nil {
		return canvas.Content{}, err
	}
	r, err := c.fetch(ctx, target, req)
	switch {
	case err != nil:
		return canvas.Content{}, err
	case r == nil:
		return canvas.Content{ETag: req.ETag, NotModified: true}, nil
	}
	if r.Text && !strings.Contains(strings.ToLower(r.ContentType), "charset") {
		r.ContentType += "; charset=utf-8"
	}
	return canvas.Content{Data: r.Data, ContentType: r.ContentType, ETag: r.ETag}, nil
}

// sameInstance reports whether two answers of a provider are one value. Values that
// cannot be compared are not.
func sameInstance(a, b canvas.Instance) bool {
	if a == nil || b == nil {
		return false
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.Type() == vb.Type() && va.Comparable() && vb.Comparable() && va.Equal(vb)
}

func byKey(a, b *instance) int {
	if c := strings.Compare(a.key.session, b.key.session); c != 0 {
		return c
	}
	return strings.Compare(a.key.instance, b.key.instance)
}

// asOpen returns an instance as agents see it.
func (i *instance) asOpen(st canvas.CanvasState) canvas.OpenCanvas {
	return canvas.OpenCanvas{
		InstanceID: st.InstanceID, Channel: i.channel, Cursor: i.cursor, ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName,
		CanvasID: st.CanvasID, DisplayName: st.DisplayName,
		Title: deref(st.Title), Status: deref(st.Status), URL: deref(st.URL), Availability: st.Availability, IsPrivate: st.IsPrivate,
	}
}

// anyInstance is the condition of flows and changes that mean every instance.
func anyInstance(*instance) bool { return true }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// instances holds the open canvases of a host. They are indexed by session, so that
// the end of one session or client does not visit all the others. Guarded by the
// log's mutex.
type instances struct {
	sessions  map[string]map[string]*instance // by session and instance id
	byChannel map[string]*instance
	count     int
	memory    *budget.Ledger // counts what is saved
}

func newInstances(l *budget.Ledger) instances {
	return instances{memory: l, sessions: map[string]map[string]*instance{}, byChannel: map[string]*instance{}}
}

func (s *instances) at(k key) *instance { return s.sessions[k.session][k.instance] }

func (s *instances) add(i *instance) {
	in := s.sessions[i.key.session]
	if in == nil {
		in = map[string]*instance{}
		s.sessions[i.key.session] = in
	}
	in[i.key.instance] = i
	s.byChannel[i.channel] = i
	s.memory.Add(budget.Saved, int64(len(i.saved)))
	s.count++
}

// save replaces what a provider has saved for an instance.
func (s *instances) save(i *instance, data []byte) {
	if s.byChannel[i.channel] == i {
		s.memory.Add(budget.Saved, int64(len(data)-len(i.saved)))
	}
	i.saved = data
}

func (s *instances) remove(i *instance) {
	if s.byChannel[i.channel] == i {
		s.memory.Add(budget.Saved, -int64(len(i.saved)))
	}
	delete(s.byChannel, i.channel)
	in := s.sessions[i.key.session]
	if in[i.key.instance] != i {
		return
	}
	delete(in, i.key.instance)
	if len(in) == 0 {
		delete(s.sessions, i.key.session)
	}
	s.count--
}

// in returns the instances of a session, in no order; "" stands for all sessions.
func (s *instances) in(uri string) iter.Seq[*instance] {
	if uri == "" {
		return s.all()
	}
	return maps.Values(s.sessions[uri])
}

func (s *instances) all() iter.Seq[*instance] { return maps.Values(s.byChannel) }
