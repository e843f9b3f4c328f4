package canvas

import (
	"context"
	"net/http"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Provider opens canvases. Go values, folders, loopback apps, extension processes and
// the native canvases of clients all implement it.
type Provider interface {
	// Open opens an instance, or opens it again: with another input (req.Current is
	// then the open Instance), or after it was stale. It may return the same Instance
	// or a new one, which replaces the old one without closing it. If it fails, the
	// canvas stays as it was.
	//
	// Calls for different instances are concurrent; calls for one instance are not.
	// ctx ends after 30 s by default (canvas/PROTOCOL.md section 3), and Open must then
	// return soon. A late result is dropped, and its Instance is closed unless it is
	// req.Current.
	//
	// An error of type *[Error] reaches the agent with its code. Any other error becomes
	// canvas_handler_error with its text, so errors must not contain secrets.
	Open(ctx context.Context, req OpenRequest, h *Handle) (Opened, error)
}

// OpenRequest describes the instance to open.
type OpenRequest struct {
	Session     string    // the session's URI
	ExtensionID string    // the extension that declared the canvas
	CanvasID    string    // the declared canvas
	InstanceID  string    // names the instance in its session
	Channel     string    // the URI of the instance's channel, which exists once Open has succeeded; "" in a client of a host that does not send it
	Input       ahp.Value // validated against the declaration's schema; nil if absent
	Saved       []byte    // the data that Handle.Save kept for the instance; nil if none
	// Current is the Instance that is open now, if it is opened with another input; the
	// handle is then the one that it has. Otherwise it is nil.
	Current Instance
	// Restored is true if no agent or person asked: the host opens the instance again
	// because its provider is reachable again. Only a host's own providers learn it.
	Restored bool
}

// Opened is a provider's answer: the instance, and what people see of it.
type Opened struct {
	// Instance is the open canvas. It must not be nil.
	Instance Instance
	// URL is where the content is: an ahp-canvas-content: URI (see
	// [ContentURL]) or a direct one, within the url policy; "" shows none.
	URL    string
	Title  string // one line of at most 512 code points; a longer or broken one is cut and cleaned; "" is absent
	Status string // likewise
	// HTTP says that the instance is a [Messenger] that answers http/1 messages
	// (package bridge). Pages read it from the state's _meta; without it they only read
	// content.
	HTTP bool
	// Sockets says that the instance also answers ws/1 messages: WebSockets, as HTTP is
	// http/1. Without it the WebSockets of its pages fail.
	Sockets bool
	// Links lets the instance's pages offer links to the person (offerLink of
	// /.ahp/canvas.js): a renderer shows the address and opens it if the person
	// agrees. Renderers learn it from the state's _meta. Only a host's own providers
	// have it. Like HTTP, it is fixed when the instance is opened first.
	Links bool
	// Input is what the host keeps and shows as the instance's input, in place of the
	// call's: a provider that keeps a large input itself can leave it out. It is a JSON
	// object, and the input of the next Open after a restart; nil keeps the call's. Only
	// a host's own providers have it.
	Input ahp.Value
	// Answer is what the agent that opened the canvas reads in the result of its call: any
	// JSON within the limit of an action's value. It is not part of the state, and people do
	// not see it. Only a host's own providers have it.
	Answer ahp.Value
}

// Instance is one open canvas. Invoke and Close are called one at a time, in
// order. An Instance can also implement [Messenger] and [Reader].
type Instance interface {
	// Invoke runs a declared action. The host has validated the input. The result is
	// any JSON of at most 64 KiB; nil is no value.
	Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error)
	// Close is called once, when the instance ends. The host logs its error.
	Close(ctx context.Context) error
}

// Messenger is an Instance that receives messages from its Views. Its methods are called
// one at a time, in the order of the log, and also during Invoke. They must not wait for a
// View. While a call runs, up to 1 MiB of messages are queued. Above that, a host rejects
// messages, and a client, which cannot reject them, drops them. Messages that are still
// queued when the instance ends are dropped.
type Messenger interface {
	// Message is a View's canvas/message. The payload is opaque, at most 64 KiB.
	Message(ctx context.Context, from View, payload ahp.Value)
	// ViewGone reports that a View's connection or subscription ended. In a client it is
	// never called: AHP does not report that to clients.
	ViewGone(from View)
}

// Reader is an Instance that serves content.
type Reader interface {
	// Read returns a resource. It is called concurrently, also during Invoke. It returns
	// ahp.ErrNotFound (or fs.ErrNotExist) for absent and for forbidden resources alike,
	// so that a caller cannot tell them apart.
	Read(ctx context.Context, req ReadRequest) (Content, error)
}

// InputRefuser is an Instance that words the refusal of an input: its agents know errors of
// another protocol.
type InputRefuser interface {
	// RefuseInput returns the error for an input that does not fit the action's declared
	// schema. The refusal is the host's error (canvas_input_invalid). The action is not
	// run. RefuseInput is called like Instance.Invoke.
	RefuseInput(action string, refusal *Error) *Error
}

// View is one page that renders an instance: a connection that is subscribed to
// its channel.
type View struct {
	// Conn is the connection. It is 0 in a client, which knows client ids only.
	Conn channels.ConnID
	// ClientID is the client id of the connection.
	ClientID string
	// Role is the role of the connection's token (canvas/PROTOCOL.md section 9.2): "view"
	// for a person, also through a relay, "client" for an editor, "agent" for an agent. A
	// View of the role "read" or "look" only says hello and bye. It is "" in a client,
	// which does not know it.
	Role string
}

// ReadOnly reports whether the View can send nothing but hello and bye, so that a
// question to it has no answer.
func (v View) ReadOnly() bool { return v.Role == access.Read || v.Role == access.Look }

// Actor returns the View as the actor of a [Handle.Note]. The host adds the name that the
// person chose.
func (v View) Actor() Actor {
	if v.Role == access.Agent {
		return ByAgent
	}
	return Actor{Kind: ActorPerson, ClientID: v.ClientID}
}

// ByAgent and ByCanvas are actors of a [Handle.Note]: the agent whose action runs, and the
// canvas itself.
var (
	ByAgent  = Actor{Kind: ActorAgent}
	ByCanvas = Actor{Kind: ActorCanvas}
)

// Person reports whether a decision of the View can be a person's: it does not come from
// an agent's connection, nor from a program that only looks.
func (v View) Person() bool { return v.Role != access.Agent && !v.ReadOnly() }

// MustBePerson returns [ErrNotAPerson] unless a decision of the View can be a person's.
// Every approval begins with it: a provider calls it before it acts on a message that
// decides something, and answers the View with its code and text. The
// Decisions of canvastest.Config check that.
func (v View) MustBePerson() error {
	if v.Person() {
		return nil
	}
	return ErrNotAPerson
}

// ErrNotAPerson refuses a decision that only a person can make.
var ErrNotAPerson = Errorf("person_required", "only a person can decide this; the connection has an agent's token: open the page with the link for people")

// ReadRequest is one content read. The host has parsed and checked the path.
type ReadRequest struct {
	Path ContentPath // which resource
	ETag string      // the validator of the reader's copy; "" if it has none
}

// Content is one resource.
type Content struct {
	Data        []byte // at most 16 MiB; not changed after it is returned
	ContentType string // "" is derived from the path's extension
	ETag        string // "" if the content has no validator
	NotModified bool   // the reader's copy is still valid; Data is empty
	// Path is the path after a redirect inside the instance; the zero value means the
	// requested path.
	Path ContentPath
}

// Update changes what people see of an instance: absent keeps a member, null clears
// it, a value sets it.
type Update struct {
	Title  ahp.Field[string] // as Opened.Title: the host cuts and cleans it
	Status ahp.Field[string] // likewise
	URL    ahp.Field[string] // of the content; see Opened.URL
}

// Over returns u, with the members that are absent in u taken from before.
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

// Action returns the action that applies the update.
func (u Update) Action() Updated { return Updated{Title: u.Title, Status: u.Status, URL: u.URL} }

// WebApp is an Instance that answers http/1 messages (Opened.HTTP) and plain HTTP as well.
// A host that serves each canvas under a separate address (package gateway) passes
// requests to it without a detour over messages. Without it, such a host sends http/1.
type WebApp interface {
	// ServeApp answers a request of the canvas's page, also one that upgrades to a
	// WebSocket. It is called concurrently. The request's cookies are those of the page, without
	// the host's; its context ends with the instance and with the page.
	//
	// The host filters the response's headers and adds its own policies.
	ServeApp(w http.ResponseWriter, r *http.Request)
}

// WithBrowser returns a context for ServeApp that names the browser of a request, so that an
// app can keep the cookies of browsers apart.
func WithBrowser(ctx context.Context, browser string) context.Context {
	return context.WithValue(ctx, browserKey{}, browser)
}

// BrowserOf returns the browser of a request, "" if it is not known.
func BrowserOf(ctx context.Context) string {
	browser, _ := ctx.Value(browserKey{}).(string)
	return browser
}

// browserKey is the key of WithBrowser.
type browserKey struct{}
