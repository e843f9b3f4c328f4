package relay

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// UplinkOptions configures an [Uplink]. URL, Token, Host and Serve are required;
// other fields that are zero have the defaults that their comments name.
type UplinkOptions struct {
	// URL is the relay's address: wss://relay.example/, or ws:// on a trusted
	// network.
	URL string
	// Token is a token of audience "host".
	Token string
	// Host is the host's name (see [ValidName]).
	Host string
	// Generation distinguishes this run of the host from earlier ones: it must
	// increase from run to run. 0 uses the current time in nanoseconds. If the
	// clock went back since a run that the relay still considers alive, Run
	// returns ErrSuperseded.
	Generation int64
	// Edges are the only edges, in addition to the relay at URL, at which an offer can have
	// the uplink dial a lane. If they are empty, the uplink trusts the list that the relay
	// sends with each registration.
	Edges Edges

	// Serve takes over a lane: the client's messages arrive on the socket as if
	// the client had dialed the host. Serve may return before the socket ends, but
	// must close it when ctx is canceled, which happens when the uplink drains.
	Serve func(ctx context.Context, socket *ws.Conn, lane LaneInfo)
	// Progress is called for every change of state, from one goroutine. It may be
	// nil.
	Progress func(Progress)

	// MaxLanes limits the lanes; the uplink declines further ones (256).
	// It also holds the lanes of one client's token at all edges of a fleet to the limit
	// that the relay names.
	MaxLanes int
	// Dials limits the concurrent dials (16).
	Dials int
	// Handshake limits the time for a registration and for a lane to open (10 s).
	Handshake time.Duration
	// Drain is how long lanes can take to end when Run returns (10 s).
	Drain time.Duration
	// Stable is how long a registration must last to reset Backoff (2 s).
	Stable time.Duration
	// Backoff returns the waits between attempts ([NewBackoff]).
	Backoff backoff.BackOff

	// NetDial replaces the dialer of TCP connections; it may be nil.
	NetDial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS configures wss connections; it may be nil.
	TLS *tls.Config
	// Conn configures the WebSocket connections.
	Conn ws.Options
	// Logger receives the uplink's log; nil discards it.
	Logger *slog.Logger
}

// LaneInfo identifies a lane and its client, by the token that the client
// presented to the relay.
type LaneInfo struct {
	// Lane is the lane's id.
	Lane string
	// Subject is the holder of the client's token.
	Subject string
	// ClientID is the only client id that the client may use; "" allows any.
	ClientID string
	// Person tells the people apart who share a client token, such as the link of a team:
	// it is a name for the token, the address from which it is used, which it does not
	// disclose, and the opened link, if the relay tells it apart. It is "" from an older relay. It is for limits and records, and proves
	// nothing.
	Person string
	// OnDrain sets what happens when the lane's edge drains, before the lane ends. drain must
	// call answer, in time or later: moves reports whether the client will leave the lane
	// itself, having another one. The edge does not close the lane then until the drain's
	// time is up. Without OnDrain the answer is no. drain must not wait.
	OnDrain func(drain func(answer func(moves bool)))
}

// State is the state of an uplink.
type State string

// The states.
const (
	Connecting State = "connecting" // the uplink dials the relay
	Registered State = "registered" // clients can reach the host
	Lost       State = "lost"       // the control connection ended; the uplink will reconnect
	Superseded State = "superseded" // a newer run of the host took over; Run returns
	Draining   State = "draining"   // the lanes end; Run returns after them
)

// Progress reports a change of state.
type Progress struct {
	// State is the new state.
	State State
	// Err is why the connection ended, if it was not by canceling Run's context.
	Err error
	// Retry is the wait before the next attempt, if State is Lost.
	Retry time.Duration
}

// RefusedError reports that the relay does not accept this host's token or name,
// or that the server is no relay.
type RefusedError struct {
	// Status is the HTTP status of the response.
	Status int
}

// Error describes the refusal.
func (e *RefusedError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized:
		return "the relay does not know the host token"
	case http.StatusForbidden:
		return "the host token is not valid for this host name"
	case http.StatusMisdirectedRequest:
		return "the relay does not serve the name in its URL"
	}
	return fmt.Sprintf("the server is not a relay: it answered with status %d", e.Status)
}

// Uplink keeps a host registered with a relay. Make it with NewUplink, and call
// Run once.
type Uplink struct {
	opts  UplinkOptions
	base  *url.URL
	lanes laneSet

	connections int64    // control connections so far, used by Run alone
	left        *control // the previous connection, to a relay that drains; used by Run alone
	lingering   sync.WaitGroup
}

// NewUplink makes an uplink, or returns an error if the options are not valid.
func NewUplink(opts UplinkOptions) (*Uplink, error) {
	base, err := url.Parse(opts.URL)
	if err != nil || (base.Scheme != "ws" && base.Scheme != "wss") || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("relay: want a URL of the form wss://relay.example/, without user, query or fragment") // not quoted: it might hold a secret
	}
	switch {
	case opts.Token == "":
		return nil, errors.New("relay: UplinkOptions.Token is empty; a host token is required")
	case !ValidName(opts.Host):
		return nil, fmt.Errorf("relay: host name %q is not 1 to 63 of a-z, 0-9, dot, hyphen and underscore", opts.Host)
	case opts.Serve == nil:
		return nil, errors.New("relay: UplinkOptions.Serve is required")
	}
	opts.Generation = cmp.Or(opts.Generation, time.Now().UnixNano())
	opts.MaxLanes = cmp.Or(opts.MaxLanes, 256)
	opts.Dials = cmp.Or(opts.Dials, 16)
	opts.Handshake = cmp.Or(opts.Handshake, 10*time.Second)
	opts.Drain = cmp.Or(opts.Drain, 10*time.Second)
	opts.Stable = cmp.Or(opts.Stable, 2*time.Second)
	if opts.Backoff == nil {
		opts.Backoff = NewBackoff()
	}
	if opts.Progress == nil {
		opts.Progress = func(Progress) {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	u := &Uplink{opts: opts, base: base}
	u.lanes.init(opts)
	return u, nil
}

// NewBackoff returns waits of 0.2 s at first and 1.5 times as long each time, up
// to 5 s. Each varies at random by up to half, so that the hosts of a restarted
// relay do not reconnect at the same time. A wait is about half of the outage so
// far (see Reconnecting in the package documentation).
func NewBackoff() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, Multiplier: 1.5, MaxInterval: 5 * time.Second, RandomizationFactor: 0.5,
	}
}

// Run registers, serves lanes, and registers again when it loses the control
// connection, until ctx is canceled. Then it drains and returns nil. It returns
// ErrSuperseded when a newer run of the host takes over, and a *[RefusedError]
// when the relay refuses the first registration. Lanes outlive a lost control
// connection, but all have ended when Run returns.
func (u *Uplink) Run(ctx context.Context) error {
	err := u.keepRegistered(ctx)
	u.lingering.Wait()
	how, state := hostGoingAway, Draining
	if errors.Is(err, ErrSuperseded) {
		how, state = superseded, Superseded
	}
	u.opts.Progress(Progress{State: state, Err: err})
	u.lanes.drain(how)
	return err
}

var hostGoingAway = &ws.CloseError{Code: ws.CodeGoingAway, Reason: "the host is shutting down"}

// keepRegistered registers repeatedly. It returns nil when ctx is canceled.
func (u *Uplink) keepRegistered(ctx context.Context) error {
	b := u.opts.Backoff
	b.Reset()
	for registeredOnce := false; ; {
		u.opts.Progress(Progress{State: Connecting})
		began := time.Now()
		registered, err := u.connectOnce(ctx)
		registeredOnce = registeredOnce || registered
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errMoving) && time.Since(began) >= u.opts.Stable:
			u.opts.Logger.Info("the relay drains; registering elsewhere", "host", u.opts.Host)
			continue // without a pause, while the old connection still serves
		case errors.Is(err, ErrSuperseded):
			return err
		case !registeredOnce && finalRefusal(err) != nil:
			return finalRefusal(err)
		case registered && time.Since(began) >= u.opts.Stable:
			b.Reset()
		}
		wait := b.NextBackOff()
		if wait == backoff.Stop {
			return err
		}
		u.opts.Logger.Info("relay lost", "err", err, "retry", wait)
		u.opts.Progress(Progress{State: Lost, Err: err, Retry: wait})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// finalRefusal returns err as a RefusedError if a retry cannot help, otherwise nil.
func finalRefusal(err error) error {
	he, ok := errors.AsType[*ws.HandshakeError](err)
	final := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMisdirectedRequest}
	if !ok || !slices.Contains(final, he.Status) {
		return nil
	}
	return &RefusedError{Status: he.Status}
}

// dial opens a connection to an endpoint of the relay.
func (u *Uplink) dial(ctx context.Context, base *url.URL, endpoint, name, token string, conn ws.Options) (*ws.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, u.opts.Handshake)
	defer cancel()
	return ws.Dial(ctx, base.JoinPath(endpoint, name).String(), ws.DialOptions{
		Token: token, NetDial: u.opts.NetDial, TLS: u.opts.TLS, HandshakeTimeout: u.opts.Handshake, Conn: conn,
	})
}
