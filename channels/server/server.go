package server

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures a Server.
type Options struct {
	// Log is the log of the host. It is required.
	Log *channels.Log
	// Methods are the host's methods, without those of the connection itself
	// (initialize, ping, reconnect, subscribe, unsubscribe, dispatchAction).
	Methods []Method
	// Presence is notified when clients leave channels. It may be nil.
	Presence Presence
	// Connectivity is notified whether clients can be reached. It may be nil.
	Connectivity Connectivity
	// Roles restricts each connection to what the role of its token permits (package
	// access). Without it, every connection may do everything.
	Roles bool
	// ValidToken reports whether a token still grants what it did when its connection was
	// accepted, by ws.Grant's Token. It is called when a connection begins, so that
	// EndToken misses none. nil means that no token ends.
	ValidToken func(token string) bool
	// MayUse reports whether a token may use a client id: false if other tokens name it
	// and this one does not. nil permits all.
	MayUse func(clientID, token string) bool
	// Credentials are what clients can show in their handshake if their connection has no
	// token of the host. nil has none.
	Credentials Credentials
	// Audit is called for each handshake, each action, each request that changes something
	// and each that the role does not permit. It must return at once. It may be nil.
	Audit func(Act)
	// Dialects speaks other versions of the protocol; nil speaks only the server's own.
	Dialects Dialects
	// Info names the host in the answer to initialize. It may be nil.
	Info *ahp.ServerInfo

	// Handshake is how long a connection may take until initialize or reconnect
	// succeeds (ahp/PROTOCOL.md section 2a); default 30 s. Pings do not extend it.
	Handshake time.Duration

	// Grace is how long a client without a connection keeps its place in channels;
	// default 30 s.
	Grace time.Duration
	// Remember is how long a client without a connection can reconnect; default 10
	// minutes.
	Remember time.Duration
	// MaxClients limits the clients without a connection that are remembered; default
	// 4,096.
	MaxClients int
	// MaxSubs limits the subscriptions of a connection; default 4,096.
	MaxSubs int

	// Memory counts what clients make the host hold; nil counts nothing.
	Memory *budget.Ledger
	// Rates limit what clients make the host do.
	Rates Rates

	// Peer has the limits of a connection. If its MessageRate is 0, it is 20,000
	// messages a second with a burst of 40,000: more than any page sends, and few
	// enough to protect the host from a flood.
	Peer peer.Options
	// Logger may be nil.
	Logger *slog.Logger
}

// Server serves AHP connections to one log. Its methods may be called concurrently.
type Server struct {
	log          *channels.Log
	methods      map[string]Method
	presence     Presence
	connectivity Connectivity
	roles        bool
	validToken   func(string) bool
	mayUse       func(clientID, token string) bool
	credentials  Credentials
	audit        func(Act)
	dialects     Dialects
	info         *ahp.ServerInfo
	maxSubs      int
	handshake    time.Duration
	peers        *peer.Limits
	logger       *slog.Logger
	clients      clients
	memory       *budget.Ledger
	rates        Rates
	sessions     paces // by URI
	tokens       paces // by tokenName

	unreadable atomic.Uint64
	slow       atomic.Uint64
	closed     atomic.Bool // set under mu

	mu   sync.Mutex
	live map[*conn]struct{}

	reporting sync.Mutex // held during a call of connectivity
}

// New returns a Server. It panics if two rows have the same method.
func New(opts Options) *Server {
	s := &Server{
		log:          opts.Log,
		methods:      map[string]Method{},
		presence:     opts.Presence,
		connectivity: opts.Connectivity,
		roles:        opts.Roles,
		validToken:   opts.ValidToken,
		mayUse:       opts.MayUse,
		credentials:  opts.Credentials,
		audit:        opts.Audit,
		dialects:     opts.Dialects,
		info:         opts.Info,
		maxSubs:      or(opts.MaxSubs, 4096),
		handshake:    or(opts.Handshake, 30*time.Second),
		logger:       or(opts.Logger, slog.New(slog.DiscardHandler)),
		live:         map[*conn]struct{}{},
		memory:       opts.Memory,
		rates:        opts.Rates.withDefaults(),
	}
	s.sessions.rate, s.tokens.rate = s.rates.Session, s.rates.Token
	limits := opts.Peer
	limits.Logger = s.logger
	limits.FlushShared = opts.Log.Flush
	if limits.MessageRate == 0 {
		limits.MessageRate, limits.MessageBurst = 20_000, 40_000
	}
	s.peers = limits.Limits()
	s.clients = clients{
		grace:    or(opts.Grace, 30*time.Second),
		remember: or(opts.Remember, 10*time.Minute),
		limit:    or(opts.MaxClients, 4096),
		onGone:   func(id string) { s.clientGone(id, func(string) bool { return false }) },
		memory:   opts.Memory,
		known:    map[string]*client{},
		absent:   list.New(),
	}
	for _, m := range append(connectionMethods(), opts.Methods...) {
		if _, twice := s.methods[m.Info.Name]; twice {
			panic(fmt.Sprintf("server: two rows for method %q", m.Info.Name))
		}
		s.methods[m.Info.Name] = m
	}
	return s
}

func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Serve serves a WebSocket in the background, with what its token grants: a role, and the
// only client id that the connection may have, or "" if it may have any.
func (s *Server) Serve(socket *ws.Conn, grant ws.Grant) { s.ServeThen(socket, grant, nil) }

// ServeThen is Serve that calls then, if it is not nil, once the connection has ended.
// then must not wait.
func (s *Server) ServeThen(socket *ws.Conn, grant ws.Grant, then func()) {
	s.ServeLane(socket, grant, then, nil)
}

// ServeLane is ServeThen for a connection through a relay. It passes a function to onDrain, if
// that is not nil: the function for relay.LaneInfo.OnDrain, which asks the client to move.
func (s *Server) ServeLane(socket *ws.Conn, grant ws.Grant, then func(), onDrain func(drain func(answer func(moves bool)))) {
	c := &conn{server: s, grant: grant, id: s.log.NextConn(), then: then}
	if s.roles {
		c.rights = access.For(grant.Role)
	}
	c.account = s.memory.Open(tokenName(grant), c)
	c.peer = s.peers.New(socket, c, c.account)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed.Load():
		c.refuse(socket, ws.CodeGoingAway, shuttingDown)
		return
	case !s.opens(grant.Token):
		c.refuse(socket, ws.CodeTokenEnded, tokenEnded)
		return
	}
	s.live[c] = struct{}{}
	c.opening = &opening{timer: time.AfterFunc(s.handshake, c.neverOpened)}
	c.peer.Start()
	if onDrain != nil {
		onDrain(c.drained)
	}
}

// opens reports whether a token still grants what it did.
func (s *Server) opens(token string) bool { return s.validToken == nil || s.validToken(token) }

// refuse ends a connection that was not started.
func (c *conn) refuse(socket *ws.Conn, code ws.CloseCode, reason string) {
	c.account.Close()
	socket.Close(code, reason)
	if c.then != nil {
		c.then()
	}
}

func (s *Server) ended(c *conn) {
	if c.then != nil {
		defer c.then()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, c)
}

// EndToken closes the connections of a token with ws.CodeTokenEnded. Their clients, and
// absent ones of the token, leave their channels without a grace period, with everything
// that they declared. Options.ValidToken must report false for the token already.
func (s *Server) EndToken(token string) {
	s.mu.Lock()
	var ending []*conn
	for c := range s.live {
		if c.grant.Token == token {
			c.tokenEnded.Store(true)
			ending = append(ending, c)
		}
	}
	s.mu.Unlock()
	for _, c := range ending {
		c.peer.Close(ws.CodeTokenEnded, tokenEnded)
	}
	for _, id := range s.clients.endToken(token) {
		s.clients.onGone(id)
	}
}

const tokenEnded = "the token was revoked, replaced or has expired"

const shuttingDown = "the host is shutting down"

// Stats are counters of a Server.
type Stats struct {
	// Connections is the number of open connections.
	Connections int
	// Unreadable is the number of notifications that were neither handled nor refused,
	// because a notification has no answer.
	Unreadable uint64
	// Slow is the number of connections that were closed because they did not read.
	Slow uint64
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Connections: len(s.live), Unreadable: s.unreadable.Load(), Slow: s.slow.Load()}
}

// Close refuses new requests, waits for the answers to accepted ones, closes every
// connection with code 1001, and waits until they have ended. If ctx ends first,
// Close closes the connections at once.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed.Store(true)
	conns := slices.Collect(maps.Keys(s.live))
	s.mu.Unlock()
	s.clients.close()
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.shutdown(ctx) })
	}
	wg.Wait()
	return ctx.Err()
}

func (s *Server) clientGone(id string, keep func(string) bool) {
	if s.presence != nil {
		s.presence.ClientGone(id, keep)
	}
}
