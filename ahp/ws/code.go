package ws

import (
	"errors"
	"fmt"
)

// CloseCode is the status code of a WebSocket close frame. Codes from 4000 on are this
// protocol's (ahp/PROTOCOL.md section 5.2).
type CloseCode int

// The codes that this module sends or interprets.
const (
	CodeNormal      CloseCode = 1000 // the connection is not needed any more
	CodeGoingAway   CloseCode = 1001 // the process shuts down
	CodeProtocol    CloseCode = 1002 // a violation of RFC 6455
	CodeUnsupported CloseCode = 1003 // a binary message
	CodeNoStatus    CloseCode = 1005 // never sent: the peer's close frame had no code
	CodeLost        CloseCode = 1006 // never sent: the connection ended without a close frame
	CodePolicy      CloseCode = 1008 // too many messages, or a peer that does not answer
	CodeTooBig      CloseCode = 1009 // a message above the read limit
	CodeInternal    CloseCode = 1011 // a fault of this side
	CodeRestart     CloseCode = 1012 // the process restarts
	CodeTryLater    CloseCode = 1013 // too many connections

	CodeSlow CloseCode = 4001 // the peer does not read; it can reconnect and resume
	CodeDead CloseCode = 4002 // nothing was received for Options.DeadAfter

	CodeTokenEnded CloseCode = 4007 // the token was revoked, replaced or has expired
	CodeReplaced   CloseCode = 4008 // another connection of the same client took over

	CodeSealBroken CloseCode = 4009 // a wrong key, or a sealed frame that was changed, repeated, moved, cut or lost
	CodeSealNeeded CloseCode = 4010 // the host accepts sealed connections only
)

// CloseError is the cause of a connection's end.
type CloseError struct {
	// Code is the code that was sent or received.
	Code CloseCode
	// Reason is a short text for people.
	Reason string
	// Remote reports that the peer's close frame ended the connection.
	Remote bool
	// Err is the transport's error, or nil.
	Err error
}

// Error returns the code and the reason.
func (e *CloseError) Error() string {
	who := "closed"
	if e.Remote {
		who = "closed by the peer"
	}
	s := fmt.Sprintf("connection %s (%d)", who, e.Code)
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// Unwrap returns e.Err.
func (e *CloseError) Unwrap() error { return e.Err }

// Is reports whether target is a CloseError with the same code. So
// errors.Is(err, &CloseError{Code: CodeSlow}) asks for the code.
func (e *CloseError) Is(target error) bool {
	t, ok := target.(*CloseError)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of the CloseError that err wraps, or 0.
func CodeOf(err error) CloseCode {
	if e, ok := errors.AsType[*CloseError](err); ok {
		return e.Code
	}
	return 0
}

// sendable reports whether a close frame may have the code.
func (c CloseCode) sendable() bool {
	return c >= 1000 && c != CodeNoStatus && c != CodeLost && c != 1004 && c != 1015
}
