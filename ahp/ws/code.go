package ws

import (
	"errors"
	"fmt"
)

// CloseCode is the status of a WebSocket close frame: the registered ones, and
// this protocol's own from 4000 on.
type CloseCode int

// The codes that this module sends or acts on.
const (
	CodeNormal      CloseCode = 1000
	CodeGoingAway   CloseCode = 1001 // the process shuts down
	CodeProtocol    CloseCode = 1002 // not WebSocket as RFC 6455 has it
	CodeUnsupported CloseCode = 1003 // a binary message
	CodeNoStatus    CloseCode = 1005 // never sent: the peer's close frame had no code
	CodeLost        CloseCode = 1006 // never sent: the connection ended without a close frame
	CodePolicy      CloseCode = 1008 // a flood, or a peer that does not answer
	CodeTooBig      CloseCode = 1009 // a message above the read limit
	CodeInternal    CloseCode = 1011
	CodeRestart     CloseCode = 1012
	CodeTryLater    CloseCode = 1013

	CodeSlow CloseCode = 4001 // the peer does not read; reconnect resumes
	CodeDead CloseCode = 4002 // nothing was heard for the keep-alive time
)

// CloseError says why a connection ended. It is what [Conn.Err] and every read
// or write after the end return.
type CloseError struct {
	Code   CloseCode
	Reason string
	// Remote says that the peer's close frame ended the connection.
	Remote bool
	// Err is the transport's error, where there was one.
	Err error
}

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

func (e *CloseError) Unwrap() error { return e.Err }

// Is compares by code, so that errors.Is(err, &CloseError{Code: CodeSlow}) asks
// for the kind.
func (e *CloseError) Is(target error) bool {
	t, ok := target.(*CloseError)
	return ok && t.Code == e.Code
}

// CodeOf returns the close code that err carries, or 0.
func CodeOf(err error) CloseCode {
	if e, ok := errors.AsType[*CloseError](err); ok {
		return e.Code
	}
	return 0
}

// sendable reports whether a code may stand in a close frame.
func (c CloseCode) sendable() bool {
	return c >= 1000 && c != CodeNoStatus && c != CodeLost && c != 1004 && c != 1015
}
