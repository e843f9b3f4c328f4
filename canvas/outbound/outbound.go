package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// The limits of a request.
const (
	defaultTimeout = 30 * time.Second
	connectTimeout = 10 * time.Second // also until the header has arrived
	headerBytes    = 64 << 10
	maxRedirects   = 3
	idleConns      = 16
	idleTimeout    = 30 * time.Second
)

// The errors of [Client.Do] that a caller may want to tell apart. A redirect that is not
// allowed is a [*RedirectError].
var (
	// ErrURL refuses a URL that is not https, has a user name, or has no host.
	ErrURL = errors.New("outbound: want an https URL without a user name")
	// ErrOrigin refuses a URL whose origin is not one of Options.Origins.
	ErrOrigin = errors.New("outbound: the origin is not an allowed one")
	// ErrNotPublic refuses a connection to an address that is not public.
	ErrNotPublic = errors.New("outbound: its name does not mean a public address")
	// ErrTooLarge is returned by Read for a body above its limit.
	ErrTooLarge = errors.New("outbound: the answer is too large")
)

// RedirectError refuses a redirect.
type RedirectError struct {
	// Origin is where the redirect points to, such as "https://example.com". It is "" if
	// there were too many redirects.
	Origin string
}

// Error names the origin.
func (e *RedirectError) Error() string {
	if e.Origin == "" {
		return fmt.Sprintf("outbound: more than %d redirects", maxRedirects)
	}
	return fmt.Sprintf("outbound: it redirects to %q, which is not allowed", e.Origin)
}

// Options configures a Client. The zero value reaches every public https origin.
type Options struct {
	// Loopback also allows http and https for localhost, 127.0.0.1 and [::1].
	Loopback bool
	// Origins, if not empty, are the only origins that are requested, such as
	// "https://images.example". Origins that [ParseOrigin] refuses match nothing.
	Origins []string
	// Timeout limits a request with its body; 30 s if zero.
	Timeout time.Duration
	// Stream is for answers that take long or have no end: only the connection has a time
	// limit, Timeout is ignored, and no redirect is followed.
	Stream bool
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
	// RootCAs are the certificate authorities that are trusted; nil is the system's.
	RootCAs *x509.CertPool
}

// Client sends requests to the open web. It is safe for concurrent use.
type Client struct {
	opts    Options
	origins []string
	http    http.Client
	public  func(netip.Addr) bool
}

// New returns a Client.
func New(o Options) *Client {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	c := &Client{opts: o, public: Public}
	for _, origin := range o.Origins {
		if u, err := ParseOrigin(origin); err == nil {
			c.origins = append(c.origins, u)
		}
	}
	c.http = http.Client{Timeout: o.Timeout, CheckRedirect: c.redirect, Transport: &http.Transport{
		Proxy:                  nil, // a proxy would connect in place of this client, unchecked
		DialContext:            c.dial,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  connectTimeout,
		MaxResponseHeaderBytes: headerBytes,
		MaxIdleConns:           idleConns,
		IdleConnTimeout:        idleTimeout,
	}}
	if o.Stream {
		c.http.Timeout = 0
		c.http.Transport.(*http.Transport).ResponseHeaderTimeout = 0
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Origins returns the only origins that are requested; none if every one can be.
func (c *Client) Origins() []string { return slices.Clone(c.origins) }

// Do sends a request. It sends it once, except that a connection that closes before it has
// sent anything is replaced for methods that can be repeated. Errors wrap the ones of this
// package, and contain no URL.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.Allowed(req.URL); err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return nil, err
	}
	return resp, nil
}

// Allowed reports whether the client would request a URL: nil, [ErrURL] or [ErrOrigin]. It
// does not look the name up.
func (c *Client) Allowed(u *url.URL) error {
	if u == nil || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return ErrURL
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !c.loopback(u.Hostname())) {
		return ErrURL
	}
	if len(c.opts.Origins) > 0 && !slices.Contains(c.origins, originOf(u)) {
		return ErrOrigin
	}
	return nil
}

// redirect decides whether a redirect is followed.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &RedirectError{}
	}
	first := via[0]
	to := originOf(req.URL)
	if c.opts.Stream || c.Allowed(req.URL) != nil {
		return &RedirectError{to}
	}
	if to == originOf(first.URL) {
		return nil
	}
	if !slices.Contains(c.origins, to) || req.Method != http.MethodGet && req.Method != http.MethodHead {
		return &RedirectError{to}
	}
	header := http.Header{}
	if accept, ok := first.Header["Accept"]; ok {
		header["Accept"] = accept
	}
	req.Header = header
	return nil
}

// loopback reports whether a name is an allowed one of this machine.
func (c *Client) loopback(host string) bool {
	return c.opts.Loopback && (host == "localhost" || host == "127.0.0.1" || host == "::1")
}

// dial connects to a host. The address is checked between resolution and connect.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrURL
	}
	local := c.loopback(host)
	d := net.Dialer{
		Timeout: connectTimeout, Resolver: c.opts.Resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return ErrNotPublic
			}
			if ip := to.Addr().Unmap(); local && ip.IsLoopback() || !local && c.public(ip) {
				return nil
			}
			return ErrNotPublic
		},
	}
	conn, err := d.DialContext(ctx, network, address)
	if errors.Is(err, ErrNotPublic) {
		return nil, ErrNotPublic // without the address
	}
	return conn, err
}

// Read reads a response's body and closes it. A body of more than max bytes is ErrTooLarge.
func Read(resp *http.Response, max int64) ([]byte, error) {
	defer resp.Body.Close()
	if resp.ContentLength > max {
		return nil, ErrTooLarge
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, ErrTooLarge
	}
	return b, nil
}
