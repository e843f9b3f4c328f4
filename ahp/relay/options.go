package relay

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Default limits of an edge.
const (
	// DefaultMaxLanes is the default of EdgeOptions.MaxLanes.
	DefaultMaxLanes = 4096
	// DefaultMaxHosts is the default of EdgeOptions.MaxHosts.
	DefaultMaxHosts = 1024
)

// EdgeOptions configures an [Edge]. Hosts and Authorizer are required; other
// fields that are zero have the defaults that their comments name.
type EdgeOptions struct {
	// Hosts are the Host headers that the edge accepts, compared exactly.
	Hosts []string
	// Origins are the web origins that may connect as clients.
	Origins []string
	// QueryToken accepts a client's token as ?tkn=. Use it only for a loopback
	// listener.
	QueryToken bool

	// Authorizer decides which tokens are valid.
	Authorizer Authorizer
	// Directory finds hosts. Several edges can share one; nil makes one for this
	// edge.
	Directory Directory
	// URL is where hosts of other edges dial this edge's lanes, such as
	// wss://edge-1.example; "" for a single edge.
	URL string
	// Edges are the URLs of the fleet's edges, which the edge sends to its hosts: they dial
	// no others.
	Edges Edges

	// LanesPerHost limits the lanes of one host (256).
	LanesPerHost int
	// LanesPerClient limits the lanes of one token (192), which can be a link that a
	// whole team has. A Grant can change it.
	LanesPerClient int
	// LanesPerAddress limits the lanes of one address at a host (96), so that one holder
	// of a link does not use up what all its holders share. An IPv6 address counts as its
	// /64 network. Connections without an IP address have no such limit. If all are taken,
	// people who opened the link with fewer lanes take them from those with most.
	LanesPerAddress int
	// Proxies are the proxies in front of the edge whose X-Forwarded-For counts.
	Proxies remote.Proxies
	// MaxLanes limits the lanes of all hosts (DefaultMaxLanes). Each lane uses
	// two sockets.
	MaxLanes int
	// MaxHosts limits the control connections (DefaultMaxHosts).
	MaxHosts int
	// HostRate limits new lanes per second of a host (64).
	HostRate float64
	// ClientRate limits new lanes per second of a token (16).
	ClientRate float64
	// AddressRate limits new lanes per second of an address at a host (8).
	AddressRate float64
	// HostBurst is how many lanes of a host can start at once (LanesPerHost).
	HostBurst int
	// ClientBurst is how many lanes of a token can start at once (LanesPerClient). For an
	// address it is LanesPerAddress.
	ClientBurst int

	// ClientMessage limits the bytes of a client's message (ws.MessageReadLimit,
	// 4 MiB).
	ClientMessage int64
	// HostMessage limits the bytes of a host's message (ws.ClientReadLimit,
	// 32 MiB).
	HostMessage int64

	// Handshake limits the time for a registration and for a host to dial back
	// (10 s).
	Handshake time.Duration
	// StartupGrace is how long after New, and after Fleet.Unsettled, clients wait for a
	// host that has not registered since (10 s); negative for not at all.
	StartupGrace time.Duration
	// WriteStall is how long an end of a lane can take no data before it is
	// closed (20 s).
	WriteStall time.Duration
	// PingAfter is the silence before a ping (30 s). After twice that time
	// without an answer the connection is lost.
	PingAfter time.Duration

	// NewSecret makes lane ids and secrets: at least 128 random bits, as a-z and
	// 0-9. Nil uses crypto/rand.
	NewSecret func() string
	// Trace records lanes; nil records nothing. A client's request can name the parent
	// (traceparent).
	Trace *trace.Tracer
	// Logger receives the edge's log; nil discards it.
	Logger *slog.Logger
}

func (o EdgeOptions) withDefaults() EdgeOptions {
	o.LanesPerHost = cmp.Or(o.LanesPerHost, 256)
	o.LanesPerClient = cmp.Or(o.LanesPerClient, 192)
	o.LanesPerAddress = cmp.Or(o.LanesPerAddress, 96)
	o.MaxLanes = cmp.Or(o.MaxLanes, DefaultMaxLanes)
	o.MaxHosts = cmp.Or(o.MaxHosts, DefaultMaxHosts)
	o.HostRate = cmp.Or(o.HostRate, 64)
	o.HostBurst = cmp.Or(o.HostBurst, o.LanesPerHost)
	o.ClientRate = cmp.Or(o.ClientRate, 16)
	o.AddressRate = cmp.Or(o.AddressRate, 8)
	o.ClientBurst = cmp.Or(o.ClientBurst, o.LanesPerClient)
	o.ClientMessage = cmp.Or(o.ClientMessage, ws.MessageReadLimit)
	o.HostMessage = cmp.Or(o.HostMessage, ws.ClientReadLimit)
	o.Handshake = cmp.Or(o.Handshake, 10*time.Second)
	o.StartupGrace = cmp.Or(o.StartupGrace, 10*time.Second)
	o.WriteStall = cmp.Or(o.WriteStall, 20*time.Second)
	o.PingAfter = cmp.Or(o.PingAfter, 30*time.Second)
	if o.Directory == nil {
		o.Directory = NewDirectory()
	}
	if o.NewSecret == nil {
		o.NewSecret = newSecret
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// conn returns the options of the edge's WebSocket connections.
func (o EdgeOptions) conn(readLimit int64) ws.Options {
	return ws.Options{ReadLimit: readLimit, PingAfter: o.PingAfter, DeadAfter: 2 * o.PingAfter, WriteStall: o.WriteStall}
}

func newSecret() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
