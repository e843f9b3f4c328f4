package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

// MetaETag is the _meta member that carries a content validator in requests and
// responses (canvas/PROTOCOL.md section 6).
const MetaETag = "x-ahp-canvas/etag"

// MetaChannel is the _meta member of canvasOpen and canvasInvokeAction that has the URI of
// the instance's channel. The provider may dispatch there without a subscription.
const MetaChannel = "x-ahp-canvas/channel"

// ChannelMeta returns a _meta that has [MetaChannel].
func ChannelMeta(uri string) ahp.Value { return ahp.MustMarshal(map[string]string{MetaChannel: uri}) }

// CanvasReadResourceParams asks for one resource of an open canvas.
type CanvasReadResourceParams struct {
	Channel string               `json:"channel"`        // the instance's ahp-canvas: channel
	URI     string               `json:"uri"`            // an ahp-canvas-content: URI of that instance
	Meta    map[string]ahp.Value `json:"_meta,omitzero"` // may contain MetaETag
}

// ETag returns the validator of the reader's copy, or "".
func (p CanvasReadResourceParams) ETag() string {
	var etag string
	if raw := p.Meta[MetaETag]; raw.Kind() == '"' && ahp.Unmarshal(raw, &etag) == nil {
		return etag
	}
	return ""
}

// CanvasReadResourceResult has exactly one entry in Contents, or none if the
// reader's copy is still valid.
type CanvasReadResourceResult struct {
	Contents []CanvasResourceContent `json:"contents"`       // at most one
	Meta     map[string]ahp.Value    `json:"_meta,omitzero"` // may contain MetaETag
}

// CanvasResourceContent is a resource. Exactly one of Text and Blob is set.
type CanvasResourceContent struct {
	URI      string  `json:"uri"`               // after redirects inside the instance
	MimeType string  `json:"mimeType,omitzero"` // "" if unknown
	Text     *string `json:"text,omitzero"`     // the content, if it is text in UTF-8
	Blob     *string `json:"blob,omitzero"`     // the content in base64, otherwise
}

// CanvasOpenParams asks a client provider to open a canvas (the Canvas proposal
// (#297), section 5).
type CanvasOpenParams struct {
	Channel     string    `json:"channel"`        // the session
	CanvasID    string    `json:"canvasId"`       // the declared canvas
	ExtensionID string    `json:"extensionId"`    // the client's extension
	InstanceID  string    `json:"instanceId"`     // names the instance in the session
	Input       ahp.Value `json:"input,omitzero"` // fits the declared schema
	Meta        ahp.Value `json:"_meta,omitzero"` // has the instance's channel under [MetaChannel]
}

// CanvasOpenResult is what people see of the canvas.
type CanvasOpenResult struct {
	URL    string `json:"url,omitzero"`    // of the content; "" shows none
	Title  string `json:"title,omitzero"`  // "" sets no title
	Status string `json:"status,omitzero"` // "" sets no status
}

// CanvasInvokeActionParams asks a client provider to run an action.
type CanvasInvokeActionParams struct {
	Channel     string    `json:"channel"`        // the session
	InstanceID  string    `json:"instanceId"`     // the open instance
	CanvasID    string    `json:"canvasId"`       // its canvas
	ExtensionID string    `json:"extensionId"`    // the client's extension
	ActionName  string    `json:"actionName"`     // a declared action
	Input       ahp.Value `json:"input,omitzero"` // fits the action's schema
	Meta        ahp.Value `json:"_meta,omitzero"` // has the instance's channel under [MetaChannel]
}

// CanvasInvokeActionResult is the result of an action.
type CanvasInvokeActionResult struct {
	Value ahp.Value `json:"value,omitzero"` // absent if the action returned no value
}

// CanvasCloseParams notifies a client provider that a canvas was closed.
type CanvasCloseParams struct {
	Channel     string `json:"channel"`     // the session
	InstanceID  string `json:"instanceId"`  // the closed instance
	CanvasID    string `json:"canvasId"`    // its canvas
	ExtensionID string `json:"extensionId"` // the client's extension
}

// SetPrivateParams decides whether agents may look at an open canvas.
type SetPrivateParams struct {
	Channel   string `json:"channel"`   // the instance's ahp-canvas: channel
	IsPrivate bool   `json:"isPrivate"` // true hides the canvas from looks
}

// UndoCloseParams names the canvas whose close a client undoes.
type UndoCloseParams struct {
	Channel string `json:"channel"` // the instance's ahp-canvas: channel
}

// HistoryParams asks what happened in a session.
type HistoryParams struct {
	Channel string `json:"channel"`        // the session
	After   int64  `json:"after,omitzero"` // HistoryResult.Next of the answer before; 0 asks for everything
}

// HistoryResult is what happened in a session.
type HistoryResult struct {
	Happenings []Happening `json:"happenings"` // after the position, the oldest first
	Next       int64       `json:"next"`       // the position of the next question
}

// Happening is something that happened in a session, for people to read.
type Happening struct {
	ID         int64  `json:"id"`                  // names it in its session; one that is counted again keeps it
	Seq        int64  `json:"seq"`                 // orders the happenings
	Time       string `json:"time"`                // RFC 3339, UTC; of the last time
	Who        Actor  `json:"who"`                 // did it
	What       string `json:"what"`                // one line that follows the name of the actor, such as: closed the canvas
	InstanceID string `json:"instanceId,omitzero"` // of the canvas; "" if it concerns none
	Title      string `json:"title,omitzero"`      // of the canvas, at that time
	Count      int    `json:"count"`               // how often it happened in a row
}

// Actor is who did something.
type Actor struct {
	Kind     string `json:"kind"`              // ActorAgent, ActorPerson, ActorCanvas or ActorHost
	Name     string `json:"name,omitzero"`     // that a person chose, or of the agent's token; "" if none
	ClientID string `json:"clientId,omitzero"` // of a person's page
}

// The kinds of an Actor.
const (
	ActorAgent  = "agent"  // an agent
	ActorPerson = "person" // a person, in a page or an editor
	ActorCanvas = "canvas" // the canvas itself
	ActorHost   = "host"   // the host
)

// InviteParams asks for an invitation.
type InviteParams struct {
	Channel string `json:"channel"`       // the session
	Role    string `json:"role,omitzero"` // of the token that the invitation becomes: "view", or "read" for someone who only sees; "" is "view"
}

// InviteResult is an invitation, which is good once.
type InviteResult struct {
	Invitation string `json:"invitation"` // goes into the link: #invite=…
	Seconds    int    `json:"seconds"`    // for which it is good
}

// PersonOpenParams opens a canvas for a person, without an input.
type PersonOpenParams struct {
	Channel     string `json:"channel"`              // the session
	CanvasID    string `json:"canvasId"`             // a declared canvas
	ExtensionID string `json:"extensionId,omitzero"` // of its extension; "" if CanvasID alone is unambiguous
}

// PersonOpenResult names the instance that was opened.
type PersonOpenResult struct {
	InstanceID string `json:"instanceId"` // names the instance in its session
	Channel    string `json:"channel"`    // its ahp-canvas: channel
}

// PeopleParams asks who has a session open, and says how the person is called.
type PeopleParams struct {
	Channel string  `json:"channel"`       // the session
	Name    *string `json:"name,omitzero"` // of the person; "" takes it back, absent keeps it
}

// PeopleResult is who has a session open.
type PeopleResult struct {
	People []Person `json:"people"` // those who came last, first
	// Unstored says why the host cannot store changes; "" if it can. A page that reaches the
	// host through a relay learns it here.
	Unstored string `json:"unstored,omitzero"`
}

// Person is a connection of a person that is subscribed to a session.
type Person struct {
	Name string `json:"name,omitzero"` // that the person chose; "" if none
	Role string `json:"role"`          // of the connection's token: "view" or "read"
	You  bool   `json:"you,omitzero"`  // it is the connection that asks
}

// DirectParams asks for the address of an open canvas for the frames of a page.
type DirectParams struct {
	Channel string `json:"channel"` // the instance's ahp-canvas: channel
	Label   string `json:"label"`   // of the address's host: 32 lower-case hex digits, the same each time this browser shows this canvas
}

// DirectResult is the address of an open canvas for the frames of a page.
type DirectResult struct {
	URL string `json:"url"` // of the outer frame; it holds a secret that is new each time the canvas is opened
}

// MaxPersonName is the limit of a person's name, in code points.
const MaxPersonName = 40

// The methods of the canvas surface. CanvasOpen, CanvasInvokeAction and CanvasClose
// go from the host to a client that provides canvases; the host answers a client that
// sends one with error -32009 (canvas/PROTOCOL.md section 4).
var (
	CanvasReadResource = ahp.NewMethod[CanvasReadResourceParams, CanvasReadResourceResult]("canvasReadResource", ahp.ClientToHost).ChangesNothing()

	CanvasOpen         = ahp.NewMethod[CanvasOpenParams, CanvasOpenResult]("canvasOpen", ahp.ClientToHost|ahp.HostToClient)
	CanvasInvokeAction = ahp.NewMethod[CanvasInvokeActionParams, CanvasInvokeActionResult]("canvasInvokeAction", ahp.ClientToHost|ahp.HostToClient)
	// CanvasSetPrivate hides an open canvas from agents that look. It is for people: the
	// host refuses a connection of an agent.
	CanvasSetPrivate = ahp.NewMethod[SetPrivateParams, ahp.None]("x-ahp-canvas/setPrivate", ahp.ClientToHost)
	// CanvasUndoClose undoes a close that the same client asked for with [MetaUndo].
	CanvasUndoClose = ahp.NewMethod[UndoCloseParams, ahp.None]("x-ahp-canvas/undoClose", ahp.ClientToHost)
	// CanvasHistory returns what happened in a session.
	CanvasHistory = ahp.NewMethod[HistoryParams, HistoryResult]("x-ahp-canvas/history", ahp.ClientToHost).ChangesNothing()
	// CanvasInvite makes an invitation that a person gives to another one.
	CanvasInvite = ahp.NewMethod[InviteParams, InviteResult]("x-ahp-canvas/invite", ahp.ClientToHost)
	// CanvasPersonOpen opens a declared canvas for a person. The host refuses a connection of
	// an agent, which has its own endpoint for that.
	CanvasPersonOpen = ahp.NewMethod[PersonOpenParams, PersonOpenResult]("x-ahp-canvas/personOpen", ahp.ClientToHost)
	// CanvasPeople returns who has a session open.
	CanvasPeople = ahp.NewMethod[PeopleParams, PeopleResult]("x-ahp-canvas/people", ahp.ClientToHost)

	// CanvasDirect returns the address of an open canvas for a page that reaches the host
	// without a relay. It is for people and their editors.
	CanvasDirect = ahp.NewMethod[DirectParams, DirectResult]("x-ahp-canvas/direct", ahp.ClientToHost)

	CanvasClose = ahp.NewMethod[CanvasCloseParams, ahp.None]("canvasClose", ahp.ClientToHost|ahp.HostToClient)
)

// Methods is the table of the methods of this package.
var Methods = []ahp.MethodRow{
	CanvasReadResource.Row(), CanvasOpen.Row(), CanvasInvokeAction.Row(), CanvasClose.Row(),
	CanvasSetPrivate.Row(), CanvasPeople.Row(), CanvasPersonOpen.Row(), CanvasUndoClose.Row(), CanvasHistory.Row(), CanvasInvite.Row(),
	CanvasDirect.Row(),
}
