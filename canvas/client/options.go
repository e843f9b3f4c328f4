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
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Options configures a [Client]. The zero value is a canvas client with a random
// id and without a token.
type Options struct {
	// ClientID identifies the client to the host over all its connections, in at
	// most 256 bytes. If it is "", the Client chooses a random one.
	ClientID string
	// Versions are offered in the handshake; nil offers 0.6.0 and 0.5.1.
	Versions []string
	// Capabilities are declared; nil declares canvas, an empty map nothing.
	Capabilities ahp.ClientCapabilities
	// Subscriptions are channels to subscribe to in the handshake. A channel that
	// the host does not have is no error; [Client.State] shows whether it has it.
	Subscriptions []string

	// Token is sent as Authorization: Bearer.
	Token string
	// Header is sent with the upgrade request.
	Header http.Header
	// NetDial opens the socket; nil dials TCP.
	NetDial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Verifier replaces NetDial: it opens the socket and verifies the host before
	// the token is sent. Clients of one host with one token can share it, so that
	// one of them learns for all whether the host can be verified. Nil makes one for
	// this client.
	Verifier *proof.Verifier
	// TLS configures wss; nil is the default configuration.
	TLS *tls.Config

	// HostToken is a token of the host, for a connection through a relay: Token is the
	// relay's then. The client proves HostToken to the host and does not send it. The host
	// grants what HostToken does.
	HostToken string

	// Seal encrypts the connection for the host that it identifies, so that a relay cannot
	// read it. If the other end is not that host, there is no connection. Nil does not seal.
	Seal *seal.Identity

	// Backoff makes the client reconnect automatically (see [NewBackoff]); nil
	// leaves that to Reconnect.
	Backoff Backoff

	// Timeout limits every call, every dispatch until its echo, every request to a
	// provider and every automatic attempt to reconnect. The default is 30 s.
	Timeout time.Duration
	// Dispatches is how many dispatches can wait for their echo. The default is
	// 1,024.
	Dispatches int
	// WatchBytes limits the queue of a watch, in bytes of JSON and 256 for each
	// event. The default is 16 MiB, more than any replay.
	WatchBytes int

	// Logger receives records of connections that begin and end, with the keys
	// client and err. They contain no URLs, tokens or payloads. Nil discards them.
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
	if o.Backoff != nil && len(o.Capabilities) > 0 {
		o.Capabilities[ahp.CapabilityMove] = ahp.Value("{}")
	}
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
	return ws.DialOptions{Token: o.Token, Header: o.Header, NetDial: o.Verifier.Dial, TLS: o.TLS}
}

// peer returns the limits of the connection. The client trusts a host with large
// states; the limits only keep a broken host from filling the memory.
func (o *Options) peer() peer.Options {
	return peer.Options{
		Logger:         o.Logger,
		HandleOnReader: true,
		CallTimeout:    o.Timeout,
		MaxValues:      -1,
		MaxDepth:       256,
	}
}
