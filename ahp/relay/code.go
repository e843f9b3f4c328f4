package relay

import (
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// The close codes of a relay, in addition to the codes of package ws. A client
// reconnects after any of them; a host does not reconnect after CodeSuperseded.
const (
	// CodeHostOffline: the host is not registered, or did not accept the lane in
	// time.
	CodeHostOffline ws.CloseCode = 4003
	// CodeSuperseded: a newer registration of the host took over.
	CodeSuperseded ws.CloseCode = 4004
	// CodePeerLost: the connection to the other end of the lane broke without a
	// close frame.
	CodePeerLost ws.CloseCode = 4005
	// CodeTooMany: a limit on lanes or on new lanes per second; try again later.
	CodeTooMany ws.CloseCode = 4006
	// CodeWithdrawn: the token was withdrawn or has expired.
	CodeWithdrawn ws.CloseCode = 4007
)

// Errors of a [Directory] and of [Uplink.Run].
var (
	// ErrOffline: the host is not registered.
	ErrOffline = errors.New("the host is offline")
	// ErrSuperseded: the host has a newer registration.
	ErrSuperseded = errors.New("a newer registration of this host took over")
	// ErrBusy: the host does not read its control connection.
	ErrBusy = errors.New("the host is busy")
	// ErrUnavailable: the directory cannot reach the other edges, so the host might be
	// registered or not; try again later.
	ErrUnavailable = errors.New("the relay cannot look for the host now")
)

// relayedClose returns the close for one end of a lane after the other end ended
// with err.
func relayedClose(err error) (ws.CloseCode, string) {
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
