package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Options says who connects, and how. The zero value is a canvas client with an
// id of its own, without a token.
type Options struct {
	// ClientID names the client to the host over all its connections, in at most
	// 256 bytes. "" is made up, and good for the life of the Client.
	ClientID string
	// Versions are offered in the handshake; nil offers 0.6.0 and 0.5.1.
	Versions []string
	// Capabilities are declared; nil declares canvas, an empty map nothing.
	Capabilities ahp.ClientCapabilities
	// Subscriptions are channels to subscribe to in the handshake. One that the
	// host does not have is left out in silence: ask [Client.State].
	Subscriptions []string

	// Token is sent as Authorization: Bearer.
	Token string
	// Header is sent with the upgrade request.
	Header http.Header
	// NetDial opens the socket; nil dials TCP.
	NetDial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Door opens the socket in place of NetDial, so that clients of one host and
	// token share what is known of it; nil is one of the client's own.
	Door *proof.Door
	// TLS configures wss; nil is the default configuration.
	TLS *tls.Config

	// Backoff reconnects by itself when the connection is lost (see
	// [NewBackoff]); nil leaves that to Reconnect.
	Backoff Backoff

	// Timeout bounds every call, every dispatch until its echo, every request to
	// a provider and every attempt to reconnect by itself (30 s).
	Timeout time.Duration
	// Dispatches is how many may wait for their echo at a time (1,024).
	Dispatches int
	// WatchBytes bounds what waits in one watch, in bytes of JSON and 256 for
	// each event (16 MiB: more than any replay).
	WatchBytes int

	// Logger is told of connections that come and go, with the keys client and
	// err; never of urls, tokens or payloads. Nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.ClientID = cmp.Or(o.ClientID, rand.Text())
	if o.Versions == nil {
		o.Versions = []string{ahp.V0_6_0.String(), ahp.V0_5_1.String()}
	}
	if o.Capabilities == nil {
		o.Capabilities = ahp.ClientCapabilities{ahp.CapabilityCanvas: ahp.Value("{}")}
	}
	o.Versions = slices.Clone(o.Versions)
	o.Capabilities = maps.Clone(o.Capabilities)
	o.Subscriptions = slices.Clone(o.Subscriptions)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Dispatches = cmp.Or(o.Dispatches, 1024)
	o.WatchBytes = cmp.Or(o.WatchBytes, 16<<20)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("client", o.ClientID)
	return o
}

func (o *Options) dial() ws.DialOptions {
	return ws.DialOptions{Token: o.Token, Header: o.Header, NetDial: o.Door.Dial, TLS: o.TLS}
}

// peer returns limits for a peer that is trusted with large states: they keep a
// broken host from filling the memory, not a busy one from talking.
func (o *Options) peer() peer.Options {
	return peer.Options{
		Logger:         o.Logger,
		HandleOnReader: true,
		CallTimeout:    o.Timeout,
		MaxValues:      -1,
		MaxDepth:       256,
	}
}
