package appview

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// view is one shell.
type view struct {
	apps *Apps
	key  viewKey
	done chan struct{} // closed when the View has ended

	mu       sync.Mutex
	ended    bool
	lease    *time.Timer
	attached *attach.View
	rate     *rate.Limiter
	poll     context.CancelFunc // ends the long poll that waits; nil without one

	said   int64            // the sequence number of the newest message of the shell
	echoes map[int64]string // why recent ones were refused

	kept   []kept // not confirmed yet
	bytes  int
	newest int64 // the number of the newest message that was kept
	url    string
	cursor int64 // of events

	doc document // the newest, for its parts
}

// kept is a message until the shell confirms it.
type kept struct {
	n    int64
	m    Message
	size int
}

// attach subscribes the View. The caller holds mu, or the View is new.
func (v *view) attach() error {
	at, err := v.apps.opts.Attach(attach.Args{Channel: v.key.channel, ClientID: "chat:" + v.key.view, Bytes: MaxKeptBytes, Count: MaxKept})
	if err != nil {
		return err
	}
	v.attached, v.url = at, text(at.State().URL)
	return nil
}

// begin starts the lease.
func (v *view) begin() {
	v.rate = rate.NewLimiter(sayRate, sayBurst)
	v.echoes = map[int64]string{}
	v.lease = time.AfterFunc(Lease, v.end)
	if v.apps.opts.Events != nil {
		_, v.cursor = v.apps.opts.Events(v.key.channel, -1)
	}
}

// end ends the View: its provider receives ViewGone, and a call that waits returns.
func (v *view) end() {
	v.apps.mu.Lock()
	if v.apps.views[v.key] == v {
		delete(v.apps.views, v.key)
	}
	v.apps.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return
	}
	v.ended = true
	v.lease.Stop()
	close(v.done)
	v.attached.Close()
	v.kept, v.doc = nil, document{}
}

// renew begins the lease again. It reports whether the View still exists.
func (v *view) renew() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.ended {
		v.lease.Reset(Lease)
	}
	return !v.ended
}

// receive keeps what the View received for the shell. lost reports that some of it was lost.
// It returns attach.ErrClosed if the canvas was closed. The caller holds mu.
func (v *view) receive() (lost bool, err error) {
	for {
		r, ok, err := v.attached.Poll()
		switch {
		case errors.Is(err, attach.ErrOverflow):
			v.attached.Close()
			if err := v.attach(); err != nil {
				return true, attach.ErrClosed
			}
			return true, v.drop()
		case err != nil:
			return false, err
		case !ok:
			v.keepEvents()
			return false, nil
		case r.State != nil:
			v.keepState(*r.State)
		default:
			v.keep(Message{Payload: r.Payload}, len(r.Payload))
		}
		if len(v.kept) > MaxKept || v.bytes > MaxKeptBytes {
			return true, v.drop()
		}
	}
}

// drop drops all messages, in place of which the shell receives the state.
func (v *view) drop() error {
	for more := true; more; {
		_, more, _ = v.attached.Poll() // an error is found by the next call
	}
	v.kept, v.bytes = nil, 0
	v.keepState(v.attached.State())
	return nil
}

func (v *view) keep(m Message, size int) {
	v.newest++
	v.kept = append(v.kept, kept{v.newest, m, size})
	v.bytes += size
}

func (v *view) keepState(st canvas.CanvasState) {
	if url := text(st.URL); url != v.url {
		v.url = url
		v.keep(Message{Reload: true}, 0)
	}
	v.keep(Message{State: new(stateOf(st))}, len(st.Input))
}

// keepEvents keeps the events of the canvas since the last call.
func (v *view) keepEvents() {
	if v.apps.opts.Events == nil {
		return
	}
	events, next := v.apps.opts.Events(v.key.channel, v.cursor)
	v.cursor = next
	if events = events[max(0, len(events)-maxEvents):]; len(events) == 0 {
		return
	}
	size := 0
	for at := len(events) - 1; at >= 0; at-- {
		if size += len(events[at].Event); size > maxEventBytes {
			events = events[at+1:]
			break
		}
	}
	if len(events) > 0 {
		v.keep(Message{Events: events}, size)
	}
}

// The limits of the events that a shell receives at a time, for the model of its chat.
const maxEvents, maxEventBytes = 20, 8 << 10

// confirm forgets what the shell has.
func (v *view) confirm(after int64) {
	for len(v.kept) > 0 && v.kept[0].n <= after {
		v.bytes -= v.kept[0].size
		v.kept = v.kept[1:]
	}
}

// say sends messages that were not sent before. The caller holds mu.
func (v *view) say(all []Say) (echoes []Echo) {
	for _, s := range all {
		reason, known := v.echoes[s.Seq]
		if s.Seq > v.said {
			reason = v.sayOne(s.Payload)
			v.said = s.Seq
			if v.echoes[s.Seq] = reason; len(v.echoes) > maxEchoes {
				delete(v.echoes, s.Seq-maxEchoes)
			}
		} else if !known {
			reason = "" // answered long ago
		}
		echoes = append(echoes, Echo{s.Seq, reason})
	}
	return echoes
}

const maxEchoes = 4 * MaxSay

func (v *view) sayOne(payload ahp.Value) (refused string) {
	var tag struct {
		Tag  ahp.Value `json:"x-ahp,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	if payload.Kind() == '{' && ahp.Unmarshal(payload, &tag) == nil && tag.Tag != nil && string(tag.Tag) != `"view/1"` {
		return "a chat carries messages of view/1 only"
	}
	if !v.rate.Allow() {
		return "this canvas sends too many messages"
	}
	if err := v.attached.Say(payload); err != nil {
		return cmp.Or(err.Error(), "refused")
	}
	return ""
}

func stateOf(st canvas.CanvasState) State {
	var meta struct {
		Links ahp.Value `json:"x-ahp-canvas/links,omitzero"`
	}
	_ = ahp.Unmarshal(st.Meta, &meta) // absent without members
	return State{
		Title: cmp.Or(text(st.Title), st.DisplayName, st.CanvasID), Status: text(st.Status),
		Availability: string(cmp.Or(st.Availability, session.Ready)), Input: st.Input,
		Links: string(meta.Links) == "1",
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
