package mcp

import (
	"net"
	"net/http"
	"time"
)

// NewTransport returns the HTTP transport of a [Client]. Like ws.Dial it ignores the
// environment's proxy settings: requests contain the token, which a proxy could read
// over http. A host on this machine needs no proxy, and a host that only a proxy can
// reach could not show canvases, which use a WebSocket; a relay is for that case.
//
// The caller must close idle connections.
func NewTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
	}
}
