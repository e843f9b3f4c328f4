package bridge

import "net/http"

// tag is what http/1 messages carry as their member "x-ahp".
const tag = "http/1"

// The protocol's fixed sizes, in bytes unless the name says otherwise
// (PROTOCOL.md sections 2 to 4).
const (
	maxMessage     = 64 << 10
	maxChunk       = 32 << 10
	maxAsked       = 48_000 // an answer's chunk, where the page asks for it: 64,000 characters
	maxPath        = 8 << 10
	maxHeaders     = 16 << 10 // names and values together
	maxHeaderCount = 256
	maxText        = 512 // characters of an error's message
	maxID          = 1<<53 - 1
	maxAmount      = 1<<31 - 1

	streamWindow   = 512 << 10 // a request and direction
	laneToPage     = 1 << 20
	laneToHost     = 512 << 10
	giveBackStream = 128 << 10 // taken and not given back, at most
	giveBackPage   = 256 << 10 // lane, by the page
	giveBackHost   = 128 << 10 // lane, by the host
)

// kind is a message's type.
type kind uint8

const (
	unknown kind = iota
	request
	body
	credit
	cancel
	response
	data
	grant
	failure
)

// kinds are the types as they are named on the wire.
var kinds = map[string]kind{
	"request": request, "body": body, "credit": credit, "cancel": cancel,
	"response": response, "data": data, "grant": grant, "error": failure,
}

// header is a name, in lower case, and a value as bytes.
type header struct{ name, value string }

// message is any message of http/1. Which fields count depends on its kind.
type message struct {
	kind     kind
	id       int64
	method   string
	path     string
	headers  []header
	trailers []header
	length   int64 // of the whole body; -1 is not known
	chunk    int64 // how much of the answer one message may bring; 0 is maxChunk
	seq      int64
	end      bool
	data     []byte // decoded; the message owns it

	status     int
	statusText string
	code       string
	text       string // an error's message, or a cancel's reason

	bytes int64 // given back for the request
	lane  int64 // given back for the lane
}

// Error is how a request failed: the status that a page shows, a code of
// PROTOCOL.md section 5, and a plain word for people. A RoundTripper may return
// one; its Message reaches the page, so it must hold no url and no secret.
type Error struct {
	Status  int // 200 to 599
	Code    string
	Message string // at most 512 characters
}

func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Is compares by code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// The codes of PROTOCOL.md section 5.
const (
	CodeProtocol    = "protocol"
	CodeMethod      = "method"
	CodeTooLarge    = "too_large"
	CodeUnavailable = "unavailable"
	CodeBroken      = "broken"
	CodeRedirect    = "redirect"
	CodeBusy        = "busy"
	CodeClosed      = "closed"
	CodeTimeout     = "timeout"
)

// protocolError is a page's breach of the protocol.
func protocolError(text string) *Error {
	return &Error{http.StatusBadRequest, CodeProtocol, text}
}

// broken is an answer of the app that cannot be passed on.
func broken(text string) *Error { return &Error{http.StatusBadGateway, CodeBroken, text} }

// The failures that several places answer with.
var (
	errPath        = &Error{http.StatusRequestURITooLong, CodeTooLarge, "the request's path is too long"}
	errHeaders     = &Error{http.StatusRequestHeaderFieldsTooLarge, CodeTooLarge, "the request's headers are too large"}
	errMethod      = &Error{http.StatusMethodNotAllowed, CodeMethod, "this method is not passed on"}
	errUnavailable = &Error{http.StatusBadGateway, CodeUnavailable, "the app behind this canvas does not accept connections"}
	errRedirect    = &Error{http.StatusBadGateway, CodeRedirect, "the app redirects to another origin, which cannot be followed from here"}
	errBusy        = &Error{http.StatusServiceUnavailable, CodeBusy, "too many requests are under way"}
	errUploads     = &Error{http.StatusServiceUnavailable, CodeBusy, "too many uploads are under way"}
	errClosed      = &Error{http.StatusServiceUnavailable, CodeClosed, "the canvas is closing"}
	errEndedEarly  = broken("the app's answer broke off")
	errNotHTTP     = broken("the app's answer could not be read")
	errBigHead     = broken("the app's response headers are too large")
)
