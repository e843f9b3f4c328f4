package attach

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// The defaults of Args.
const (
	// DefaultBytes is the default of Args.Bytes.
	DefaultBytes = 1 << 20
	// DefaultCount is the default of Args.Count.
	DefaultCount = 1024
)

// ErrOverflow ends a View whose owner did not take its entries in time.
var ErrOverflow = errors.New("attach: too many messages were not taken: attach again")

// ErrClosed ends a View that was closed, by its owner or because its canvas was closed.
var ErrClosed = errors.New("attach: the canvas or the View is closed")

// Content reads what canvases show; engine.Content is one.
type Content interface {
	// CanvasReadResource answers the request of that name.
	CanvasReadResource(ctx context.Context, from *channels.Subscriber, p canvas.CanvasReadResourceParams) (ahp.Value, error)
}

// Host is where canvases run.
type Host struct {
	// Log carries the canvas channels.
	Log *channels.Log
	// Content reads their content.
	Content Content
}

// Args describe a View.
type Args struct {
	// Channel is the URI of the canvas's channel.
	Channel string
	// ClientID is the client id under which providers know the View.
	ClientID string
	// Role is the role of the View; "" is access.View, which is a person.
	Role string
	// Bytes and Count limit what the View has not taken yet; 0 is the default.
	Bytes, Count int
}

// Received is what a View receives: either a message of the provider, or the state after a
// change.
type Received struct {
	// Payload is the payload of a canvas/message; nil if State is set.
	Payload ahp.Value
	// State is the canvas's state after a change; nil if Payload is set.
	State *canvas.CanvasState
}

// View is a View in this process. Its methods may be called concurrently.
type View struct {
	host    Host
	channel string
	limit   Args
	sub     *channels.Subscriber

	// taking is held while an entry is taken, so that the state changes in the order of the
	// log, and during Say, which takes its own echo.
	taking sync.Mutex
	seq    int64 // of the newest Say
	state  canvas.CanvasState

	mu    sync.Mutex // also taken under the log's lock, so never held for long
	queue []ahp.Value
	bytes int
	more  chan struct{} // closed when there is something to take
	ended error         // why no further entry arrives
}

// Attach subscribes a View to an open canvas. It returns canvas_instance_not_found if there
// is no such canvas.
func Attach(h Host, a Args) (*View, error) {
	a.Bytes, a.Count, a.Role = cmp.Or(a.Bytes, DefaultBytes), cmp.Or(a.Count, DefaultCount), cmp.Or(a.Role, access.View)
	v := &View{host: h, channel: a.Channel, limit: a, more: make(chan struct{})}
	v.sub = &channels.Subscriber{
		ID: h.Log.NextConn(), ClientID: a.ClientID, Role: a.Role, Rights: access.For(a.Role),
		Version: ahp.V0_6_0, Caps: ahp.Capabilities{ahp.CapabilityCanvas}, Sink: v,
	}
	err := h.Log.Update(func(tx *channels.Tx) error {
		state, _ := tx.State(a.Channel)
		st, ok := state.(canvas.CanvasState)
		if !ok {
			return canvas.Errorf(canvas.CodeInstanceNotFound, "no canvas is open on this channel")
		}
		v.state = st
		_, err := tx.Subscribe(v.sub, a.Channel)
		return err
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// State returns the state after the entries that were taken.
func (v *View) State() canvas.CanvasState {
	v.taking.Lock()
	defer v.taking.Unlock()
	return v.state
}

// Say sends a payload to the canvas's provider. It returns the reason if the host refuses
// it. When it returns nil, the host has taken the message.
func (v *View) Say(payload ahp.Value) error {
	v.taking.Lock()
	defer v.taking.Unlock()
	v.seq++
	action := ahp.MustMarshal(struct {
		Type    string    `json:"type"`
		Payload ahp.Value `json:"payload"`
	}{canvas.Message{}.ActionType(), payload})
	if err := v.host.Log.Dispatch(v.sub, ahp.DispatchActionParams{Channel: v.channel, ClientSeq: v.seq, Action: action}); err != nil {
		return err
	}
	return v.echo()
}

// echo takes the host's answer to the newest Say, which is in the queue: the log delivers it
// before Dispatch returns.
func (v *View) echo() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := len(v.queue) - 1; i >= 0; i-- {
		var e ahp.ActionEnvelope
		if decodeEntry(v.queue[i], &e) && v.isEcho(e) && e.Origin.ClientSeq == v.seq {
			v.bytes -= len(v.queue[i])
			v.queue = append(v.queue[:i:i], v.queue[i+1:]...)
			v.rearm()
			if e.RejectionReason != "" {
				return errors.New(e.RejectionReason)
			}
			return nil
		}
	}
	if v.ended != nil {
		return v.ended
	}
	return ErrClosed // the channel was removed, and the log ignores the message
}

func (v *View) isEcho(e ahp.ActionEnvelope) bool {
	return e.Origin != nil && e.Origin.ClientID == v.sub.ClientID
}

// Ready returns a channel that is closed as soon as Poll would return something, or an
// error.
func (v *View) Ready() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.more
}

// Poll takes the next entry, if there is one. Its error says why there will be no further
// one.
func (v *View) Poll() (h Received, ok bool, err error) {
	v.taking.Lock()
	defer v.taking.Unlock()
	for {
		e, ok, err := v.take()
		if err != nil || !ok {
			return Received{}, false, err
		}
		if h, ok := v.apply(e); ok {
			return h, true, nil
		}
	}
}

// Err returns why no further entry arrives, nil while the View is open.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended
}

// Next is Poll that waits.
func (v *View) Next(ctx context.Context) (Received, error) {
	for {
		ready := v.Ready()
		h, ok, err := v.Poll()
		if ok || err != nil {
			return h, err
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return Received{}, ctx.Err()
		}
	}
}

func (v *View) take() (ahp.Value, bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue) == 0 {
		return nil, false, v.ended
	}
	e := v.queue[0]
	v.queue, v.bytes = v.queue[1:], v.bytes-len(e)
	v.rearm()
	return e, true, nil
}

// rearm makes Ready wait again if nothing is left to take. The caller holds mu, and has taken
// an entry.
func (v *View) rearm() {
	if len(v.queue) == 0 && v.ended == nil {
		v.more = make(chan struct{})
	}
}

// apply returns what an entry tells the View: nothing for its echoes.
func (v *View) apply(raw ahp.Value) (Received, bool) {
	var e ahp.ActionEnvelope
	if !decodeEntry(raw, &e) || e.RejectionReason != "" || v.isEcho(e) {
		return Received{}, false
	}
	enc, err := canvas.Actions.Decode(e.Action)
	if err != nil {
		return Received{}, false
	}
	switch a := enc.Action.(type) {
	case canvas.Message:
		return Received{Payload: a.Payload}, true
	case canvas.Updated:
		v.state = v.state.Apply(a)
		state := v.state
		return Received{State: &state}, true
	}
	return Received{}, false
}

func decodeEntry(frame ahp.Value, e *ahp.ActionEnvelope) bool {
	var n struct {
		Method string             `json:"method"`
		Params ahp.ActionEnvelope `json:"params"`
		RPC    string             `json:"jsonrpc"`
	}
	if ahp.Unmarshal(frame, &n) != nil || n.Method != ahp.ActionNotification.Name {
		return false
	}
	*e = n.Params
	return true
}

// Deliver implements [channels.Sink].
func (v *View) Deliver(f *channels.Frame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended != nil {
		return
	}
	b := ahp.Value(f.Bytes())
	if len(v.queue) >= v.limit.Count || v.bytes+len(b) > v.limit.Bytes {
		v.end(ErrOverflow)
		return
	}
	first := len(v.queue) == 0
	v.queue, v.bytes = append(v.queue, b), v.bytes+len(b)
	if first {
		close(v.more)
	}
}

// DeliverAll implements [channels.Sink].
func (v *View) DeliverAll(b *channels.Batch) { b.Each(v.Deliver) }

// Ended implements [channels.Ender]: the canvas was closed. What was received before can
// still be taken.
func (v *View) Ended(string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended == nil && len(v.queue) == 0 {
		close(v.more)
	}
	v.ended = cmp.Or(v.ended, ErrClosed)
}

// end drops the queue. The caller holds mu.
func (v *View) end(why error) {
	if v.ended == nil && len(v.queue) == 0 {
		close(v.more)
	}
	v.ended, v.queue, v.bytes = cmp.Or(v.ended, why), nil, 0
}

// Close ends the View: its provider receives ViewGone. Closing again does nothing.
func (v *View) Close() {
	v.mu.Lock()
	v.end(ErrClosed)
	v.mu.Unlock()
	v.host.Log.Leave(v.sub)
}

// Read returns a file of the canvas, by its content path. With the validator of a copy that
// is still valid, the result is NotModified. Absent and forbidden files are
// ahp.ErrNotFound.
func (v *View) Read(ctx context.Context, path canvas.ContentPath, etag string) (canvas.Content, error) {
	p := canvas.CanvasReadResourceParams{Channel: v.channel, URI: path.URI(v.State().InstanceID)}
	if etag != "" {
		p.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(etag)}
	}
	raw, err := v.host.Content.CanvasReadResource(ctx, v.sub, p)
	if err != nil {
		return canvas.Content{}, err
	}
	var r canvas.CanvasReadResourceResult
	if err := ahp.Unmarshal(raw, &r); err != nil {
		return canvas.Content{}, err
	}
	c := canvas.Content{NotModified: len(r.Contents) == 0}
	_ = ahp.Unmarshal(r.Meta[canvas.MetaETag], &c.ETag) // absent without a validator
	if c.NotModified {
		return c, nil
	}
	return c, fill(&c, r.Contents[0])
}

func fill(c *canvas.Content, from canvas.CanvasResourceContent) (err error) {
	c.ContentType = from.MimeType
	if _, c.Path, err = canvas.ParseContentURI(from.URI); err != nil {
		return err
	}
	if from.Text != nil {
		c.Data = []byte(*from.Text)
		return nil
	}
	if from.Blob != nil {
		c.Data, err = base64.StdEncoding.DecodeString(*from.Blob)
	}
	return err
}
