package bridge

import "net/http"

// tag is the value of the member "x-ahp" in http/1 messages.
const tag = "http/1"

// The protocol's limits (PROTOCOL.md sections 2 to 4), in bytes unless noted.
const (
	maxMessage     = 64 << 10
	maxChunk       = 32 << 10
	maxLargeChunk  = 48_000 // a response's chunk if the page asks for it: 64,000 base64 characters
	maxPath        = 8 << 10
	maxHeaders     = 16 << 10 // names and values together
	maxHeaderCount = 256
	maxText        = 512 // characters of an error's message
	maxID          = 1<<53 - 1
	maxAmount      = 1<<31 - 1

	streamWindow = 512 << 10 // for each request and direction
	connToPage   = 1 << 20
	connToHost   = 512 << 10
	ackStream    = 128 << 10 // read bytes after which a request's window is credited
	ackPage      = 256 << 10 // received bytes after which the page credits the connection
	ackHost      = 128 << 10 // received bytes after which the host grants on the connection
)

// kind is the type of a message.
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

// kinds are the types by their names on the wire.
var kinds = map[string]kind{
	"request": request, "body": body, "credit": credit, "cancel": cancel,
	"response": response, "data": data, "grant": grant, "error": failure,
}

// header is a name in lower case, and a value as bytes.
type header struct{ name, value string }

// message is any http/1 message. Its kind decides which fields are used.
type message struct {
	kind     kind
	id       int64
	method   string
	path     string
	headers  []header
	trailers []header
	length   int64 // of the body; -1 if unknown
	chunk    int64 // limit of data in a response's message; 0 means maxChunk
	seq      int64
	end      bool
	data     []byte // decoded; the message owns it

	status     int
	statusText string
	code       string
	text       string // message of an error, reason of a cancel

	bytes int64 // credit of the request
	lane  int64 // credit of the connection
}

// Error is the failure of a request. A RoundTripper can return one; its Message reaches
// the page, so it must not contain a URL or a secret.
type Error struct {
	// Status is the HTTP status that the page shows, 200 to 599.
	Status int
	// Code is one of the codes of PROTOCOL.md section 5, or another one.
	Code string
	// Message is a text for people, of at most 512 characters.
	Message string
}

// Error returns the message and the code.
func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// The codes of PROTOCOL.md section 5.
const (
	// CodeProtocol means that the other side violated the protocol.
	CodeProtocol = "protocol"
	// CodeMethod means that the method is not allowed.
	CodeMethod = "method"
	// CodeTooLarge means that the request's path or headers are too large.
	CodeTooLarge = "too_large"
	// CodeUnavailable means that the app does not accept connections.
	CodeUnavailable = "unavailable"
	// CodeBroken means that the app's response is invalid or ended early.
	CodeBroken = "broken"
	// CodeRedirect means that the app redirects to another origin.
	CodeRedirect = "redirect"
	// CodeBusy means that a limit of concurrent requests is reached.
	CodeBusy = "busy"
	// CodeClosed means that the canvas or the host is closing.
	CodeClosed = "closed"
	// CodeTimeout means that the app did not answer in time.
	CodeTimeout = "timeout"
)

// protocolError is a violation of the protocol by the other side.
func protocolError(text string) *Error {
	return &Error{http.StatusBadRequest, CodeProtocol, text}
}

// badResponse is a response of the app that cannot be passed on.
func badResponse(text string) *Error { return &Error{http.StatusBadGateway, CodeBroken, text} }

// Failures that are used in several places.
var (
	errPath        = &Error{http.StatusRequestURITooLong, CodeTooLarge, "the request's path is too long"}
	errHeaders     = &Error{http.StatusRequestHeaderFieldsTooLarge, CodeTooLarge, "the request's headers are too large"}
	errMethod      = &Error{http.StatusMethodNotAllowed, CodeMethod, "this method is not allowed"}
	errUnavailable = &Error{http.StatusBadGateway, CodeUnavailable, "the app behind this canvas does not accept connections"}
	errRedirect    = &Error{http.StatusBadGateway, CodeRedirect, "the app redirects to another origin, which a canvas cannot follow"}
	errBusy        = &Error{http.StatusServiceUnavailable, CodeBusy, "too many requests at the same time"}
	errUploads     = &Error{http.StatusServiceUnavailable, CodeBusy, "too many uploads at the same time"}
	errClosed      = &Error{http.StatusServiceUnavailable, CodeClosed, "the canvas is closing"}
	errEndedEarly  = badResponse("the app's response ended early")
	errNotHTTP     = badResponse("the app's response is not valid HTTP")
	errBigHead     = badResponse("the app's response headers are too large")
)
