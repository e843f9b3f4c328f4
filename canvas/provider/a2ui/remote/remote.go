package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// Limits of what an agent can make the host hold and wait for. A zero is the default.
type Limits struct {
	// Card is the size of an agent card (256 KiB).
	Card int64
	// Event is the size of an event or of a frame (1 MiB).
	Event int64
	// Turn is the size of all that answers a turn (8 MiB).
	Turn int64
	// Time is how long a turn can last (10 minutes).
	Time time.Duration
	// Silence is how long an agent can send nothing (2 minutes).
	Silence time.Duration
	// Quiet ends the turn of an agent at a socket that has answered, and that names no
	// state in which it waits (2 s).
	Quiet time.Duration
}

func (l Limits) orDefaults() Limits {
	return Limits{
		Card: cmp.Or(l.Card, 256<<10), Event: cmp.Or(l.Event, 1<<20), Turn: cmp.Or(l.Turn, 8<<20),
		Time: cmp.Or(l.Time, 10*time.Minute), Silence: cmp.Or(l.Silence, 2*time.Minute), Quiet: cmp.Or(l.Quiet, 2*time.Second),
	}
}

// Options configure New.
type Options struct {
	// Name is the agent's name, as [ValidName] accepts it.
	Name string
	// URL is where the agent is: https or wss, or http or ws on this machine.
	URL string
	// Token is sent as Authorization: Bearer, if it is not empty.
	Token string
	// Limits limit what the agent can do.
	Limits Limits
	// NewID returns ids for messages and requests (random ones).
	NewID func() string
	// RootCAs are the certificate authorities that are trusted (the system's).
	RootCAs *x509.CertPool
}

// Agent is a remote agent. It implements [a2ui.Agent].
type Agent struct {
	opts Options
	base *url.URL
	http *http.Client

	mu      sync.Mutex
	card    *endpoint        // nil until it was read
	sockets map[string]*talk // by context id
	closed  bool
	readers sync.WaitGroup
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// ValidName reports whether an agent can have this name: up to 32 lower-case letters,
// digits and dashes.
func ValidName(name string) bool { return namePattern.MatchString(name) }

// New returns an agent. It does not connect.
func New(o Options) (*Agent, error) {
	if !ValidName(o.Name) {
		return nil, errors.New("want a name of up to 32 lower-case letters, digits and dashes")
	}
	u, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("want the URL of an agent without user name, query and fragment")
	}
	switch plain := u.Scheme == "http" || u.Scheme == "ws"; {
	case !plain && u.Scheme != "https" && u.Scheme != "wss":
		return nil, errors.New("want an https or wss URL, or http or ws on this machine")
	case plain && !loopbackName(u.Hostname()):
		return nil, errors.New("plain http and ws reach agents on this machine alone; use https or wss")
	}
	o.Limits = o.Limits.orDefaults()
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return &Agent{opts: o, base: u, http: newClient(o), sockets: map[string]*talk{}}, nil
}

// Name returns the agent's name.
func (a *Agent) Name() string { return a.opts.Name }

// Close ends the connections. Turns under way fail.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	for _, t := range a.sockets {
		t.end()
	}
	a.mu.Unlock()
	a.http.CloseIdleConnections()
	a.readers.Wait()
	return nil
}

// Send implements [a2ui.Agent].
func (a *Agent) Send(ctx context.Context, t a2ui.Turn, on func(a2ui.Reply)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, a.opts.Limits.Time,
		a2ui.Errorf(a2ui.CodeAgentSilent, "the agent %s did not finish within %v", a.Name(), a.opts.Limits.Time))
	defer cancel()
	if a.base.Scheme == "ws" || a.base.Scheme == "wss" {
		return a.sendSocket(ctx, t, on)
	}
	err := a.sendA2A(ctx, t, on)
	if err != nil && ctx.Err() == nil {
		a.mu.Lock()
		a.card = nil // the agent may have moved within its origin
		a.mu.Unlock()
	}
	return err
}

func loopbackName(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func (a *Agent) tls() *tls.Config {
	return &tls.Config{RootCAs: a.opts.RootCAs, MinVersion: tls.VersionTLS12}
}

// handshake returns the refusal of a WebSocket.
func handshake(err error) (*ws.HandshakeError, bool) { return errors.AsType[*ws.HandshakeError](err) }

// newClient returns a client without proxies and redirects.
func newClient(o Options) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer(strings.HasPrefix(o.URL, "http:")), ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dialer returns a function that connects, to this machine alone if here is true.
func dialer(here bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	if here {
		d.Control = func(_, addr string, _ syscall.RawConn) error {
			if to, err := netip.ParseAddrPort(addr); err != nil || !to.Addr().Unmap().IsLoopback() {
				return errors.New("the name does not mean this machine")
			}
			return nil
		}
	}
	return d.DialContext
}

// unreachable returns the error of a request that failed, without its URL.
func (a *Agent) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if e, ok := errors.AsType[*a2ui.Error](cause); ok {
			return e
		}
		return a2ui.Errorf(a2ui.CodeAgentUnavailable, "the turn of the agent %s was canceled", a.Name())
	}
	why := "the connection failed"
	if errors.Is(err, syscall.ECONNREFUSED) {
		why = "the connection was refused"
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		why = "its certificate is not valid"
	} else if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		why = "it did not answer in time"
	}
	return a.unavailable("%s", why)
}

func (a *Agent) unavailable(format string, args ...any) error {
	e := a2ui.Errorf(a2ui.CodeAgentUnavailable, format, args...)
	e.Message = "the agent " + a.Name() + " cannot be reached: " + e.Message
	return e
}
