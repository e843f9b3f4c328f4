package client

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Errors to compare with errors.Is. A host's refusal of a call is an *ahp.Error. A
// connection ends with a [*Closed], or with a [*ProtocolError] if the host broke a
// rule.
var (
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the client is closed")
	// ErrUnverified is returned if the host proved before that it knows the token,
	// and the server at its address now does not. The token was not sent. Reconnect
	// may be called again.
	ErrUnverified = proof.ErrUnverified
	// ErrUnanswered is returned if the host neither echoed nor refused an action in
	// time. Hosts ignore actions for a channel that does not exist.
	ErrUnanswered = errors.New("the host neither echoed nor refused the action: the channel may not exist any more")
	// ErrBusy is returned if Options.Dispatches actions wait for their echo.
	ErrBusy = errors.New("too many dispatched actions wait for their echo")
	// ErrOverflow ends a watch that was read too slowly. A new watch begins with the
	// current states.
	ErrOverflow = errors.New("the watch was not read fast enough and has lost events")
	// ErrNotOpen is returned if the host does not list a canvas: it is not open yet,
	// or was closed.
	ErrNotOpen = errors.New("the canvas is not open")
	// ErrUnsubscribed is returned by a Subscribe during which Unsubscribe was called.
	ErrUnsubscribed = errors.New("unsubscribed while subscribing")
)

// Closed is the end of a connection: the close code, the reason, and which side
// ended it.
type Closed = ws.CloseError

// Refused is the host's refusal of a dispatched action.
type Refused struct {
	// Channel is the channel of the action.
	Channel string
	// Type is the action's type.
	Type string
	// Reason is the host's sentence.
	Reason string
	// Seq is the serverSeq of the refusal.
	Seq int64
}

// Error implements error.
func (e *Refused) Error() string {
	return fmt.Sprintf("%s was refused: %s", e.Type, e.Reason)
}

// ProtocolError reports that the host broke a rule on which the mirror relies. The
// client has closed the connection.
type ProtocolError struct {
	// Rule is the rule, as a sentence.
	Rule string
	// Err is the detail, or nil.
	Err error
}

// Error implements error.
func (e *ProtocolError) Error() string {
	if e.Err == nil {
		return "the host broke the protocol: " + e.Rule
	}
	return "the host broke the protocol: " + e.Rule + ": " + e.Err.Error()
}

// Unwrap returns the detail.
func (e *ProtocolError) Unwrap() error { return e.Err }
