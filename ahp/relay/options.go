package relay

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// How many lanes, and control connections of hosts, an edge has at a time, where
// EdgeOptions do not say.
const (
	DefaultMaxLanes = 4096
	DefaultMaxHosts = 1024
)

// EdgeOptions configures an [Edge]. Hosts and Authorizer must be given; the
// zero value of the rest has the defaults that stand beside the fields.
type EdgeOptions struct {
	// Hosts are the exact Host headers under which the edge is known; it knows
	// no other. Origins are the web origins that may connect as clients.
	Hosts, Origins []string
	// QueryToken accepts a client's token as ?tkn=; only for a listener on
	// loopback.
	QueryToken bool

	Authorizer Authorizer
	// Directory is shared by several edges; nil is one of this edge's own.
	Directory Directory
	// URL is where hosts of other edges dial this one's lanes, as in
	// wss://edge-1.example; "" for a single edge.
	URL string

	LanesPerHost   int // 256
	LanesPerClient int // 8; a token may have a number of its own
	MaxLanes       int // of all hosts: DefaultMaxLanes; each costs two sockets
	MaxHosts       int // control connections: DefaultMaxHosts
	// HostRate and ClientRate are new lanes a second (64, 4); HostBurst and
	// ClientBurst may come at once (LanesPerHost, 16).
	HostRate, ClientRate   float64
	HostBurst, ClientBurst int

	ClientMessage int64 // bytes of a client's message: ws.MessageReadLimit (4 MiB)
	HostMessage   int64 // bytes of a host's message: ws.ClientReadLimit (32 MiB)

	Handshake  time.Duration // for a registration, and for a host to dial back: 10 s
	Settle     time.Duration // how long after New hosts may come back before they are called offline: 10 s; negative is not at all
	WriteStall time.Duration // how long an end of a lane may take nothing: 20 s
	PingAfter  time.Duration // silence before a ping: 30 s; twice that is dead

	// NewSecret makes lane ids and secrets: at least 128 bits of a-z and 0-9.
	NewSecret func() string
	Logger    *slog.Logger // nil discards
}

func (o EdgeOptions) withDefaults() EdgeOptions {
	o.LanesPerHost = cmp.Or(o.LanesPerHost, 256)
	o.LanesPerClient = cmp.Or(o.LanesPerClient, 8)
	o.MaxLanes = cmp.Or(o.MaxLanes, DefaultMaxLanes)
	o.MaxHosts = cmp.Or(o.MaxHosts, DefaultMaxHosts)
	o.HostRate = cmp.Or(o.HostRate, 64)
	o.HostBurst = cmp.Or(o.HostBurst, o.LanesPerHost)
	o.ClientRate = cmp.Or(o.ClientRate, 4)
	o.ClientBurst = cmp.Or(o.ClientBurst, 16)
	o.ClientMessage = cmp.Or(o.ClientMessage, ws.MessageReadLimit)
	o.HostMessage = cmp.Or(o.HostMessage, ws.ClientReadLimit)
	o.Handshake = cmp.Or(o.Handshake, 10*time.Second)
	o.Settle = cmp.Or(o.Settle, 10*time.Second)
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

// conn is how a connection of the edge behaves.
func (o EdgeOptions) conn(readLimit int64) ws.Options {
	return ws.Options{ReadLimit: readLimit, PingAfter: o.PingAfter, DeadAfter: 2 * o.PingAfter, WriteStall: o.WriteStall}
}

func newSecret() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
