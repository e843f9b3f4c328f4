package server

import (
	"container/list"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures a Server.
type Options struct {
	Log *channels.Log
	// Methods are the rows of the floors above; the connection's own methods
	// (initialize, ping, reconnect, subscribe, unsubscribe, dispatchAction) are
	// the server's.
	Methods      []Method
	Presence     Presence     // nil: nobody wants to know
	Connectivity Connectivity // likewise
	// Info names the host in the answer to initialize.
	Info *ahp.ServerInfo

	// Handshake is how long a connection may be open before a handshake succeeds
	// (initialize or reconnect; ahp-host.md section 2a); default 30 s. A ping may come
	// before, and does not make it longer.
	Handshake time.Duration

	Grace      time.Duration // default 30 s
	Remember   time.Duration // default 10 minutes
	MaxClients int           // absent clients that are remembered; default 4,096
	MaxSubs    int           // subscriptions of one connection; default 4,096

	// Peer has the limits of a connection. Its MessageRate is 20,000 a second
	// with a burst of 40,000 where it is 0: above what any page sends, below
	// what a flood costs.
	Peer   peer.Options
	Logger *slog.Logger
}

// Server serves AHP connections over one log. Make it with New, feed it with
// Serve, end it with Close.
type Server struct {
	log          *channels.Log
	methods      map[string]Method
	presence     Presence
	connectivity Connectivity
	info         *ahp.ServerInfo
	maxSubs      int
	handshake    time.Duration
	peers        *peer.Limits
	logger       *slog.Logger
	clients      clients
	nextID       atomic.Uint64

	unreadable atomic.Uint64
	closed     atomic.Bool // set under mu

	mu   sync.Mutex
	live map[*conn]struct{}

	telling sync.Mutex // held over a call of connectivity
}

// New makes a Server. Two rows of one method panic.
func New(opts Options) *Server {
	s := &Server{
		log:          opts.Log,
		methods:      map[string]Method{},
		presence:     opts.Presence,
		connectivity: opts.Connectivity,
		info:         opts.Info,
		maxSubs:      or(opts.MaxSubs, 4096),
		handshake:    or(opts.Handshake, 30*time.Second),
		logger:       or(opts.Logger, slog.New(slog.DiscardHandler)),
		live:         map[*conn]struct{}{},
	}
	limits := opts.Peer
	limits.Logger = s.logger
	limits.Before = opts.Log.Flush
	if limits.MessageRate == 0 {
		limits.MessageRate, limits.MessageBurst = 20_000, 40_000
	}
	s.peers = limits.Limits()
	s.clients = clients{
		grace:    or(opts.Grace, 30*time.Second),
		remember: or(opts.Remember, 10*time.Minute),
		limit:    or(opts.MaxClients, 4096),
		onGone:   func(id string) { s.clientGone(id, func(string) bool { return false }) },
		known:    map[string]*client{},
		absent:   list.New(),
	}
	for _, m := range append(connectionMethods(), opts.Methods...) {
		if _, twice := s.methods[m.Info.Name]; twice {
			panic("server: two rows for method " + m.Info.Name)
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

// Serve takes over a WebSocket and returns at once. clientID is the one that
// the connection's token is good for, or "" for any.
func (s *Server) Serve(socket *ws.Conn, clientID string) {
	c := &conn{server: s, tokenClient: clientID, id: channels.ConnID(s.nextID.Add(1))}
	c.peer = s.peers.New(socket, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		socket.Close(ws.CodeGoingAway, shuttingDown)
		return
	}
	s.live[c] = struct{}{}
	c.opening = time.AfterFunc(s.handshake, c.neverOpened)
	c.peer.Start()
}

func (s *Server) ended(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, c)
}

const shuttingDown = "the host is shutting down"

// Stats are the counters of what is deliberately not answered.
type Stats struct {
	Connections int
	// Unreadable notifications could neither be handled nor refused by echo.
	Unreadable uint64
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Connections: len(s.live), Unreadable: s.unreadable.Load()}
}

// Close answers the requests that were accepted, refuses new ones, tells every
// client that the host goes away (1001) and waits until their connections have
// ended. When ctx is done first, what is under way is cut off.
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
