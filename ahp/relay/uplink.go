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
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// UplinkOptions configures an [Uplink]. URL, Token, Host and Serve must be
// given; the zero value of the rest has the defaults beside the fields.
type UplinkOptions struct {
	URL   string // of the relay: wss://relay.example/, or ws:// on a trusted network
	Token string // of audience "host"
	Host  string // the host's name, see [ValidName]
	// Generation tells this run of the host from earlier ones: it must grow from
	// run to run. 0 takes the time in nanoseconds, which does where no clock goes
	// back: a run with a lower number than one that the relay still holds for alive
	// ends with ErrSuperseded.
	Generation int64
	// Edges are further hosts (name or name:port) where lanes may wait, beside
	// URL's own: a relay of several edges names one of them in an offer.
	Edges []string

	// Serve takes over a lane: the client's messages arrive on the socket as if
	// the client had dialled it. It may return before the socket ends, but must
	// see to its end when ctx is done, which is when the uplink drains.
	Serve func(ctx context.Context, socket *ws.Conn, lane LaneInfo)
	// Progress is told of every change, from one goroutine; nil tells nobody.
	Progress func(Progress)

	MaxLanes  int           // 256: what comes on top is declined
	Dials     int           // 16: dial-backs under way at once
	Handshake time.Duration // for a registration, and for a lane to open: 10 s
	Drain     time.Duration // how long lanes may end by themselves at the end: 10 s
	Stable    time.Duration // a registration that lasted so long resets the back-off: 2 s
	Backoff   backoff.BackOff

	NetDial func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS     *tls.Config
	Conn    ws.Options
	Logger  *slog.Logger // nil discards
}

// LaneInfo is who the client of a lane is, by the token that it showed to the
// relay.
type LaneInfo struct {
	Lane     string
	Subject  string
	ClientID string // the only client id that it may claim; "" is any
}

// State is how an uplink stands.
type State string

// The states.
const (
	Connecting State = "connecting"
	Registered State = "registered"
	Lost       State = "lost"       // and it will connect again
	Superseded State = "superseded" // and it will not
	Draining   State = "draining"   // lanes end, and then Run returns
)

// Progress is a change of state.
type Progress struct {
	State State
	Err   error         // why, where it is not what was asked for
	Retry time.Duration // until the next attempt, where Lost
}

// RefusedError says that the relay does not take this host's token or name.
type RefusedError struct{ Status int }

func (e *RefusedError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized:
		return "the relay does not know the host token"
	case http.StatusForbidden:
		return "the host token is not good for this host name"
	case http.StatusMisdirectedRequest:
		return "the relay is not known under this name"
	}
	return fmt.Sprintf("this is no relay: it answered %d", e.Status)
}

// Uplink keeps a host registered with a relay. Make it with NewUplink; Run is
// called once.
type Uplink struct {
	opts  UplinkOptions
	base  *url.URL
	lanes laneSet
}

// NewUplink checks the options.
func NewUplink(opts UplinkOptions) (*Uplink, error) {
	base, err := url.Parse(opts.URL)
	if err != nil || (base.Scheme != "ws" && base.Scheme != "wss") || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("relay: want a URL of the form wss://relay.example/")
	}
	switch {
	case opts.Token == "":
		return nil, errors.New("relay: a host token is needed")
	case !ValidName(opts.Host):
		return nil, errors.New("relay: a host name is 1 to 63 of a-z, 0-9, dot, hyphen and underscore")
	case opts.Serve == nil:
		return nil, errors.New("relay: nobody serves the lanes")
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

// NewBackoff waits 0.2 s at first and half as long again each time, up to five
// seconds, each by half more or less at random, so that the hosts of a relay that
// starts again do not come all at once. A wait is then about half of the time
// that the relay has been away (see the package's Coming back).
func NewBackoff() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, Multiplier: 1.5, MaxInterval: 5 * time.Second, RandomizationFactor: 0.5,
	}
}

// Run registers, serves lanes and registers again whenever the connection is
// lost, until ctx is done; then it drains and returns nil. It returns early with
// ErrSuperseded when a newer run of the host took over, and with a
// *[RefusedError] when the relay refuses the first registration. A lane outlives
// a lost control connection. When Run returns, no lane is left.
func (u *Uplink) Run(ctx context.Context) error {
	err := u.keepRegistered(ctx)
	how, state := goingAwayHost, Draining
	if errors.Is(err, ErrSuperseded) {
		how, state = superseded, Superseded
	}
	u.opts.Progress(Progress{State: state, Err: err})
	u.lanes.drain(how)
	return err
}

var goingAwayHost = &ws.CloseError{Code: ws.CodeGoingAway, Reason: "the host is shutting down"}

// keepRegistered returns nil when ctx is done.
func (u *Uplink) keepRegistered(ctx context.Context) error {
	b := u.opts.Backoff
	b.Reset()
	for registeredOnce := false; ; {
		u.opts.Progress(Progress{State: Connecting})
		began := time.Now()
		registered, err := u.session(ctx)
		registeredOnce = registeredOnce || registered
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrSuperseded):
			return err
		case !registeredOnce && refusedFor(err) != nil:
			return refusedFor(err)
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

// refusedFor returns the refusal that err is, where trying again cannot help.
func refusedFor(err error) error {
	he, ok := errors.AsType[*ws.HandshakeError](err)
	final := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMisdirectedRequest}
	if !ok || !slices.Contains(final, he.Status) {
		return nil
	}
	return &RefusedError{Status: he.Status}
}

// dial opens a connection to a door of the relay.
func (u *Uplink) dial(ctx context.Context, base *url.URL, door, name, token string, conn ws.Options) (*ws.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, u.opts.Handshake)
	defer cancel()
	return ws.Dial(ctx, base.JoinPath(door, name).String(), ws.DialOptions{
		Token: token, NetDial: u.opts.NetDial, TLS: u.opts.TLS, HandshakeTimeout: u.opts.Handshake, Conn: conn,
	})
}
