package relay

import (
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// The close codes of a relay, beside those of package ws. A client reconnects
// after any of them; a host does not after CodeSuperseded.
const (
	// CodeHostOffline: the host is not registered, or did not take the lane in
	// time.
	CodeHostOffline ws.CloseCode = 4003
	// CodeSuperseded: a newer registration of the host took over.
	CodeSuperseded ws.CloseCode = 4004
	// CodePeerLost: the other end of the lane was lost without a goodbye.
	CodePeerLost ws.CloseCode = 4005
	// CodeTooMany: a limit of lanes or of new lanes a second; try later.
	CodeTooMany ws.CloseCode = 4006
	// CodeWithdrawn: the token is not valid any more.
	CodeWithdrawn ws.CloseCode = 4007
)

// Errors of a [Directory] and of [Uplink.Run].
var (
	// ErrOffline says that a host is not registered.
	ErrOffline = errors.New("the host is offline")
	// ErrSuperseded says that a newer registration holds the host's place.
	ErrSuperseded = errors.New("a newer registration of this host took over")
	// ErrBusy says that a host does not read its control connection.
	ErrBusy = errors.New("the host is busy")
)

// passOn is what the other end of a lane is told when one has ended.
func passOn(err error) (ws.CloseCode, string) {
	ce, ok := errors.AsType[*ws.CloseError](err)
	switch {
	case !ok || ce.Code == ws.CodeLost:
		return CodePeerLost, "the other end was lost"
	case ce.Code == ws.CodeNoStatus:
		return ws.CodeNormal, ""
	case ce.Remote:
		return ce.Code, ce.Reason
	}
	return ce.Code, "other end: " + ce.Reason
}
