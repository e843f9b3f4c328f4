package loopback

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// address is the valid address of an app.
type address struct {
	raw    string // the original url
	origin *url.URL
	dial   string // host:port
	start  canvas.ContentPath
}

// parse checks an app's url: http, a name of this machine, a port, and a path that a
// content address can have. Its errors do not contain the url.
func parse(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, errors.New("loopback: the app's address is not a URL")
	}
	host := u.Hostname()
	switch {
	case u.Scheme != "http" || u.Opaque != "":
		return address{}, errors.New("loopback: the app's address must begin with http://")
	case host != "localhost" && host != "127.0.0.1" && host != "::1":
		return address{}, errors.New("loopback: the app's address is not on this machine; use localhost, 127.0.0.1 or [::1]")
	case u.User != nil:
		return address{}, errors.New("loopback: the app's address must not contain a user name or password")
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	start, err := canvas.ParseContentPath(path)
	if err != nil {
		return address{}, errors.New("loopback: the app's address: " + err.Error())
	}
	origin := &url.URL{Scheme: u.Scheme, Host: strings.TrimSuffix(u.Host, ":")}
	return address{raw: raw, origin: origin, dial: net.JoinHostPort(host, port), start: start}, nil
}

// DialFunc has the signature of net.Dialer.DialContext.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dialLoopback dials, and fails if a name resolves to another machine.
func dialLoopback(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Control: func(_, addr string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errors.New("loopback: the app's name resolves to another machine")
		}
		return nil
	}}
	return d.DialContext(ctx, network, addr)
}

// newTransport returns a transport that dials one address, whatever the request's url,
// and ignores proxy variables.
func newTransport(addr string, dial DialFunc) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, "tcp", addr) },
		// Compression on one machine costs time and saves nothing.
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    64,
		// Below the 5 s after which Node closes a connection, so that few requests use
		// one that is being closed.
		IdleConnTimeout: 4 * time.Second,
		ReadBufferSize:  32 << 10,
		WriteBufferSize: 32 << 10,
	}
}

// refused reports whether the app refused a connection. A timeout and a canceled ctx are
// no refusal.
func refused(ctx context.Context, err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && !op.Timeout() && ctx.Err() == nil
}
