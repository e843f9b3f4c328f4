package canvas

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Provider opens canvases. A Go value, a folder, a loopback app, an extension
// process and a client's native canvas are all one of these.
//
// Open is called concurrently for different instances, and never twice at a
// time for one. It is called again for an instance that lives, where the input
// changed (OpenRequest.Current is then the Instance) or the instance was stale;
// it may then return the same Instance or another one, and the old one is not
// closed. Where it fails, the canvas stays as it was. It must return soon after
// ctx is done (30 s at most, canvas.md section 3); a late answer is dropped and
// the instance that came with it is closed, unless it is Current.
//
// An error of type *[Error] reaches the agent with its code; any other becomes
// canvas_handler_error with its text, so do not put secrets into it.
type Provider interface {
	Open(ctx context.Context, req OpenRequest, h *Handle) (Opened, error)
}

// OpenRequest says what to open, for whom, and with what it left behind.
type OpenRequest struct {
	Session     string // the session's URI
	ExtensionID string
	CanvasID    string
	InstanceID  string
	Input       ahp.Value // validated against the declaration's schema; nil where absent
	Saved       []byte    // what Handle.Save kept of this instance; nil at first
	// Current is the instance that is open now, where a live one is opened with
	// another input; the handle is then the one that it has. Nil otherwise.
	Current Instance
}

// Opened is a provider's answer: the instance, and what people see of it.
type Opened struct {
	Instance Instance
	// URL is where the content is: an ahp-canvas-content: URI (see
	// [ContentURL]) or a direct one, within the url policy; "" shows none.
	URL    string
	Title  string // at most 512 code points, no control characters; "" is absent
	Status string // likewise
	// HTTP says that the instance is a [Messenger] that answers http/1 messages
	// (package bridge): pages learn it from the state's _meta, and without it they
	// only read.
	HTTP bool
	// Links lets the instance's pages offer links to the person (offerLink of
	// /.ahp/canvas.js): a renderer shows the address and opens it if the person
	// agrees. Renderers learn it from the state's _meta. Only a host's own providers
	// have it. Like HTTP, it is fixed when the instance is opened first.
	Links bool
}

// Instance is one open canvas. Invoke and Close are called one at a time, in
// order; optional interfaces say what else it can do.
type Instance interface {
	// Invoke runs a declared action. The input was validated. The value is any
	// JSON, at most 64 KiB; nil is no value.
	Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error)
	// Close is called once, when the instance ends. Its error is logged and
	// changes nothing.
	Close(ctx context.Context) error
}

// Messenger is an Instance that hears its Views. The calls come one at a time
// and in the order of the log, also during Invoke; they must not wait for a
// View. While one does not return, messages gather up to 1 MiB; then Views are
// refused; a client, which cannot refuse them, drops those above the limit. What was
// not delivered when the instance ends is dropped.
type Messenger interface {
	// Message is a View's canvas/message. The payload is opaque, at most 64 KiB.
	Message(ctx context.Context, from View, payload ahp.Value)
	// ViewGone says that a View's connection or subscription ended. A client does not
	// learn that, and never calls it.
	ViewGone(from View)
}

// Reader is an Instance that serves content. Read is called concurrently, also
// during Invoke. ErrNotFound (or fs.ErrNotExist) is all that a caller learns of
// what is absent or forbidden.
type Reader interface {
	Read(ctx context.Context, req ReadRequest) (Content, error)
}

// View is one page that renders an instance: a connection that is subscribed to
// its channel.
type View struct {
	// Conn is the connection. It is 0 in a client, which knows client ids only.
	Conn channels.ConnID
	// ClientID is the client id of the connection.
	ClientID string
}

// ReadRequest is one content read. The path was parsed and checked before any
// provider sees it.
type ReadRequest struct {
	Path ContentPath
	ETag string // the validator that the reader has; "" is none
}

// Content is one resource.
type Content struct {
	Data        []byte // at most 16 MiB; not changed after it is returned
	ContentType string // "" is derived from the path's extension
	ETag        string // "" where there is no validator
	NotModified bool   // ReadRequest.ETag still holds; Data is empty
	// Path is where the content was found when that is not where it was asked
	// for (a redirect inside the origin); the zero value is the asked one.
	Path ContentPath
}

// Update is what a provider changes of its instance through its handle: absent
// keeps, null clears, a value sets.
type Update struct {
	Title  ahp.Field[string]
	Status ahp.Field[string]
	URL    ahp.Field[string]
}

// Over returns u with the members that it lacks taken from before.
func (u Update) Over(before Update) Update {
	if !u.Title.Present {
		u.Title = before.Title
	}
	if !u.Status.Present {
		u.Status = before.Status
	}
	if !u.URL.Present {
		u.URL = before.URL
	}
	return u
}

// Action returns the action that makes the change.
func (u Update) Action() Updated { return Updated{Title: u.Title, Status: u.Status, URL: u.URL} }
