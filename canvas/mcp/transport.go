package mcp

import (
	"net"
	"net/http"
	"time"
)

// NewTransport makes the way of a [Client] to its host. It takes no proxy from the
// environment, as ws.Dial takes none: what goes over it opens the host, and over
// http a proxy reads it. A host of this machine is nothing that a proxy could
// reach, and one that only a proxy reaches cannot be looked at either, because a
// canvas comes over a WebSocket. Who is kept apart from a host meets it at a relay.
//
// Its idle connections are the caller's to close.
func NewTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
	}
}
