package client

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// The errors that are compared with errors.Is. Refusals of the host to a call
// are *ahp.Error; the end of a connection is a [*Closed], a [*ProtocolError]
// where the client ended it because the host broke a rule.
var (
	// ErrClosed: the client was closed.
	ErrClosed = errors.New("the client is closed")
	// ErrUnverified: what listens at the host's address now is not the host, and was
	// not sent the token. Reconnect may be called again: the host may be back.
	ErrUnverified = proof.ErrUnverified
	// ErrUnanswered: a dispatched action was neither echoed nor refused in time.
	// A host does that where the channel does not exist (any more).
	ErrUnanswered = errors.New("the host neither echoed nor refused the action: the channel may not exist any more")
	// ErrBusy: too many dispatches wait for their echo.
	ErrBusy = errors.New("too many dispatched actions wait for their echo")
	// ErrOverflow: a watch was not read fast enough and has ended. Watch again:
	// it begins with the states as they are.
	ErrOverflow = errors.New("the watch was not read fast enough and has lost events")
	// ErrNotOpen: the host does not list the canvas: it is not open yet, or any
	// more.
	ErrNotOpen = errors.New("the canvas is not open")
	// ErrUnsubscribed: Unsubscribe was called while Subscribe waited.
	ErrUnsubscribed = errors.New("unsubscribed while subscribing")
)

// Closed says why a connection ended: the close code, the reason, and whether
// it was the host who ended it.
type Closed = ws.CloseError

// Refused is the host's refusal of a dispatched action.
type Refused struct {
	Channel string
	Type    string // of the action
	Reason  string // the host's sentence
	Seq     int64  // the serverSeq of the refusal
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%s was refused: %s", e.Type, e.Reason)
}

// ProtocolError says that the host broke a rule on which the mirror rests. The
// connection was closed for it.
type ProtocolError struct {
	Rule string
	Err  error // the detail; may be nil
}

func (e *ProtocolError) Error() string {
	if e.Err == nil {
		return "the host broke the protocol: " + e.Rule
	}
	return "the host broke the protocol: " + e.Rule + ": " + e.Err.Error()
}

func (e *ProtocolError) Unwrap() error { return e.Err }
