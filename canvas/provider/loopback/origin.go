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

// address is where an app is, checked.
type address struct {
	raw    string // as it was given
	origin *url.URL
	dial   string // host:port
	start  canvas.ContentPath
}

// parse checks an app's url: http, a name of this machine, a port, and a path
// that a content address can hold. Its errors do not name the url.
func parse(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, errors.New("loopback: the app's address is no URL")
	}
	host := u.Hostname()
	switch {
	case u.Scheme != "http" || u.Opaque != "":
		return address{}, errors.New("loopback: the app's address does not begin with http://")
	case host != "localhost" && host != "127.0.0.1" && host != "::1":
		return address{}, errors.New("loopback: the app's address is not on this machine: want localhost, 127.0.0.1 or [::1]")
	case u.User != nil:
		return address{}, errors.New("loopback: the app's address carries a user name or password")
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

// DialFunc has the form of net.Dialer.DialContext.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dialLoopback dials, and refuses what a name resolves to where that is not this
// machine.
func dialLoopback(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Control: func(_, addr string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errors.New("loopback: the app's name means another machine")
		}
		return nil
	}}
	return d.DialContext(ctx, network, addr)
}

// newTransport is the only way out: it dials one address whatever it is asked
// for, without the environment's proxy.
func newTransport(addr string, dial DialFunc) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, "tcp", addr) },
		// Compression between two processes of one machine costs and saves nothing.
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    64,
		// Below the 5 s after which Node closes, so that few requests meet a
		// connection that is just being closed.
		IdleConnTimeout: 4 * time.Second,
		ReadBufferSize:  32 << 10,
		WriteBufferSize: 32 << 10,
	}
}

// refused reports that nobody accepts connections there: not that it takes long,
// and not that the caller went away.
func refused(ctx context.Context, err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && !op.Timeout() && ctx.Err() == nil
}
