package canvas

import (
	"context"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Handle is what a provider works an instance with: it changes what people see,
// sends messages to Views, and keeps data. A host makes it for an open, and it
// stays the instance's through every reopen while the canvas is ready. It ends
// when the canvas is closed, its provider becomes unreachable, or the open that it
// was made for fails; then its methods return [ErrHandleClosed].
//
// Its methods may be called concurrently and at any time, also before Open has
// returned: updates made until then become part of the first state. They call no
// provider, so a provider may hold its own lock while it calls them.
//
// The same provider runs in a host and in a client that dials one. In a host, only
// Save and the methods of Records wait: for the disk. In a client, Update and Post
// wait for the host's echo and fail while the client has no connection, which does
// not end the handle. Attention, Progress
// and OfferCopy do not wait in either. PostTo, PostEncoded, Raise, RaiseFor, Note, WithdrawEvents, Save,
// MarkStale, Reopen and changes of Records return [ErrUnsupported] there: AHP has no message for them.
type Handle struct {
	backend           Backend
	session, instance string
}

// ErrHandleClosed is returned by the methods of a [Handle] after its end.
var ErrHandleClosed = errors.New("canvas: the canvas was closed or opened with another handle")

// ErrUnsupported is returned by the methods of a [Handle] that the provider's side
// does not support. It wraps [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("canvas: a provider in a client cannot do this: %w", errors.ErrUnsupported)

var errNoView = errors.New("canvas: PostTo needs a View with a connection")

// MakeHandle returns the handle of an instance. Hosts and clients call it;
// providers are given a Handle.
func MakeHandle(b Backend, session, instanceID string) Handle {
	return Handle{backend: b, session: session, instance: instanceID}
}

// Context is done when the handle ends: whatever works for the instance stops.
func (h *Handle) Context() context.Context { return h.backend.Context() }

// Done is closed when the handle ends.
func (h *Handle) Done() <-chan struct{} { return h.Context().Done() }

// Session returns the URI of the session in which the canvas is open.
func (h *Handle) Session() string { return h.session }

// InstanceID names the instance in its session.
func (h *Handle) InstanceID() string { return h.instance }

// ContentURL returns the address of content that the instance serves; see
// [ContentURL].
func (h *Handle) ContentURL(path string) string { return ContentURL(h.instance, path) }

// Update changes title, status and url. An update without effect is not published.
// The host turns a title or status into one line and cuts it to its limit
// (canvas/PROTOCOL.md section 8); a url outside the policy is an error, and nothing
// changes.
func (h *Handle) Update(ctx context.Context, u Update) error { return h.backend.Update(ctx, u) }

// SetTitle updates the title alone.
func (h *Handle) SetTitle(ctx context.Context, title string) error {
	return h.Update(ctx, Update{Title: ahp.Set(title)})
}

// SetStatus updates the status alone; "" clears it.
func (h *Handle) SetStatus(ctx context.Context, status string) error {
	if status == "" {
		return h.Update(ctx, Update{Status: ahp.Clear[string]()})
	}
	return h.Update(ctx, Update{Status: ahp.Set(status)})
}

// Post sends a payload to all Views. A View that reconnects receives it too. Before
// the first Open has returned there are no Views, and Post does nothing.
func (h *Handle) Post(ctx context.Context, payload ahp.Value) error {
	return h.backend.Post(ctx, Post{Payload: payload})
}

// PostTo sends a payload to one View. It is lost with the View's connection, whose
// end the instance learns from ViewGone.
func (h *Handle) PostTo(ctx context.Context, to View, payload ahp.Value) error {
	return h.postTo(ctx, Post{To: to, Payload: payload})
}

// PostEncoded is PostTo for a payload that a trusted encoder wrote as valid,
// compact JSON: its size is checked and nothing else. It copies the bytes.
// Use PostTo for payloads from any other source.
func (h *Handle) PostEncoded(ctx context.Context, to View, payload ahp.Value) error {
	return h.postTo(ctx, Post{To: to, Payload: payload, Encoded: true})
}

// postTo refuses a View without a connection: the zero View stands for all in a
// Post, and a client knows Views only by their client ids.
func (h *Handle) postTo(ctx context.Context, p Post) error {
	if _, err := h.keeper(); err != nil {
		return err
	}
	if p.To.Conn == 0 {
		return errNoView
	}
	return h.backend.Post(ctx, p)
}

// Raise adds an event for the session's agent, which reads events with a cursor
// when it wants to (canvas/PROTOCOL.md section 7). The event is any JSON, at most
// 64 KiB.
func (h *Handle) Raise(event ahp.Value) error {
	k, err := h.keeper()
	if err != nil {
		return err
	}
	return k.Raise(event)
}

// RaiseFor is Raise for an event that only one agent reads: the one whose token has the
// name ([Caller]), or with "" the agents whose token has none.
func (h *Handle) RaiseFor(agent string, event ahp.Value) error {
	if r, ok := h.backend.(PrivateRaiser); ok {
		return r.RaiseFor(agent, event)
	}
	return ErrUnsupported
}

// Note adds a line to what people read about the session: what an actor did in this canvas.
// The actor is [ByAgent] or [ByCanvas], or View.Actor of the View that asked; the text follows
// its name, as in "moved “Milk” to Done". It is cut to 200 code points of one line. Actions of an agent
// during which the provider notes nothing are noted by their name.
func (h *Handle) Note(who Actor, what string) error {
	if n, ok := h.backend.(Noter); ok {
		return n.Note(who, what)
	}
	return ErrUnsupported
}

// Attention says that the canvas waits for a person, and why: pages mark it, also while it
// is not shown. The reason is cut to 200 code points of one line; "" says that it waits no
// more. It ends with the handle.
func (h *Handle) Attention(reason string) error {
	if reason = ahp.Line(reason, MaxReason); reason == "" {
		return h.announce(MetaAttention, nil)
	}
	return h.announce(MetaAttention, Attention{Reason: reason})
}

// Progress says how far work in the canvas is: done of total, in any unit, and what is being
// done, which is cut to 200 code points of one line. A total of 0 is not known yet. Pages show
// it until done reaches total, or Progress(0, 0, "") or the end of the handle. It may be
// called often: pages receive at most four changes a second, the last one always.
func (h *Handle) Progress(done, total float64, text string) error {
	p := Progress{Done: done, Total: total, Text: text}
	if !p.valid() {
		return fmt.Errorf("canvas: progress of %v of %v: want numbers from 0", done, total)
	}
	return h.announce(MetaProgress, p.shown())
}

// OfferCopy offers people a copy of what the canvas holds, as a file of this name: the
// content at a path of the instance ([ContentURL]), which is read when a person wants it. ""
// offers none. It ends with the handle, so a provider offers it in each Open.
func (h *Handle) OfferCopy(name, path string) error {
	if name == "" {
		return h.announce(MetaCopy, nil)
	}
	if _, _, err := ParseContentURI(ContentURL(h.instance, path)); err != nil {
		return fmt.Errorf("canvas: a copy at %q: %w", path, err)
	}
	return h.announce(MetaCopy, Copy{Name: ahp.Line(name, MaxCopyName), Path: path})
}

// MaxCopyName is the limit of the name of a copy, in code points.
const MaxCopyName = 100

// MaxReason is the limit of the texts of [Handle.Attention] and [Handle.Progress], in code
// points.
const MaxReason = 200

func (h *Handle) announce(name string, value any) error {
	if a, ok := h.backend.(Announcer); ok {
		return a.Announce(name, value)
	}
	return ErrUnsupported
}

// WithdrawEvents withdraws the events that the instance has raised so far: an agent that
// has not read them does not receive them any more. A provider calls it when they would
// be misread from now on, such as an answer to a question that was replaced.
func (h *Handle) WithdrawEvents() error {
	if k, ok := h.backend.(Withdrawer); ok {
		return k.WithdrawEvents()
	}
	return ErrUnsupported
}

// Save keeps data of the provider for this instance until it is closed. The next
// Open of the instance gets it as OpenRequest.Saved, also after a restart of the
// host. At most 256 KiB. Save returns when the data is durable; before Open has
// returned, it becomes durable together with the open. On an error, the data that
// was kept before is still kept.
func (h *Handle) Save(ctx context.Context, data []byte) error {
	k, err := h.keeper()
	if err != nil {
		return err
	}
	return k.Save(ctx, data)
}

// Records returns the records of the provider's extension, which all its instances share.
// In a client they are empty and refuse changes.
func (h *Handle) Records() Records {
	if k, ok := h.backend.(RecordKeeper); ok {
		return k.Records()
	}
	return Records{}
}

// MarkStale reports that this instance is unreachable although its provider is
// not: the canvas is stale at once, and the handle ends. Reopen opens it again.
func (h *Handle) MarkStale() error { return h.setReachable(false) }

// Reopen reports that the instance of an ended handle is reachable again: if it is
// still stale, the host opens it again, with a new handle.
func (h *Handle) Reopen() error { return h.setReachable(true) }

func (h *Handle) setReachable(reachable bool) error {
	k, err := h.keeper()
	if err == nil {
		k.SetReachable(reachable)
	}
	return err
}

func (h *Handle) keeper() (Keeper, error) {
	if k, ok := h.backend.(Keeper); ok {
		return k, nil
	}
	return nil, ErrUnsupported
}
