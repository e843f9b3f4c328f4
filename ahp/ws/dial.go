package ws

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/websocket"
)

// DialOptions configure Dial. The zero value connects without a token.
type DialOptions struct {
	// Token is sent as Authorization: Bearer.
	Token string
	// Subprotocols are offered in this order (Subprotocol alone).
	Subprotocols []string
	// Header is sent with the upgrade request. It may have Host and Origin.
	Header http.Header
	// NetDial opens the socket (TCP). For wss, TLS runs over it.
	NetDial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS configures wss (Go's default configuration).
	TLS *tls.Config
	// HandshakeTimeout limits the upgrade (10 s).
	HandshakeTimeout time.Duration
	// Conn configures the connection. Its ReadLimit defaults to ClientReadLimit.
	Conn Options
}

// HandshakeError is returned if the server refuses the upgrade.
type HandshakeError struct {
	// Status is the HTTP status of the server's answer.
	Status int
}

// Error returns the status and its text.
func (e *HandshakeError) Error() string {
	return fmt.Sprintf("the server refused the connection: %d %s", e.Status, http.StatusText(e.Status))
}

// Dial connects to a ws or wss URL. Errors do not have the URL, because it might have a
// token. Proxies of the environment are not used.
func Dial(ctx context.Context, rawURL string, opts DialOptions) (*Conn, error) {
	u, err := url.Parse(rawURL)
	if err != nil || (u.Scheme != "ws" && u.Scheme != "wss") || u.Host == "" || u.User != nil {
		return nil, errors.New("dial: want a URL of the form ws://host:port/path or wss://host:port/path")
	}
	d := dialer{opts: opts, server: u.Hostname()}
	protocols := opts.Subprotocols
	if protocols == nil {
		protocols = []string{Subprotocol}
	}
	gd := websocket.Dialer{
		NetDialContext:    d.plain,
		NetDialTLSContext: d.tls,
		HandshakeTimeout:  cmp.Or(opts.HandshakeTimeout, 10*time.Second),
		ReadBufferSize:    gorillaBuffer,
		WriteBufferSize:   gorillaBuffer,
		WriteBufferPool:   &gorillaPool,
		Subprotocols:      protocols,
	}
	header := opts.Header.Clone()
	if opts.Token != "" {
		if header == nil {
			header = http.Header{}
		}
		header.Set("Authorization", "Bearer "+opts.Token)
	}
	wsc, resp, err := gd.DialContext(ctx, u.String(), header)
	switch {
	case err != nil && resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, &HandshakeError{Status: resp.StatusCode}
	case err != nil:
		return nil, fmt.Errorf("dial: %w", err)
	}
	opts.Conn.ReadLimit = cmp.Or(opts.Conn.ReadLimit, ClientReadLimit)
	return newConn(wsc, d.nc, true, opts.Conn), nil
}

// ClientReadLimit is the default read limit of a dialed connection, in bytes. A host
// can send 16 MiB of content, as base64 in one message.
const ClientReadLimit = 32 << 20

// dialer opens the socket, including TLS, and inserts a transport between it and
// gorilla.
type dialer struct {
	opts   DialOptions
	server string
	nc     *transport
}

func (d *dialer) open(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.opts.NetDial != nil {
		return d.opts.NetDial(ctx, network, addr)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func (d *dialer) plain(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := d.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.nc = newTransport(nc)
	return d.nc, nil
}

func (d *dialer) tls(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := d.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg := d.opts.TLS.Clone()
	if cfg == nil {
		cfg = &tls.Config{}
	}
	if cfg.ServerName == "" {
		cfg.ServerName = d.server
	}
	tc := tls.Client(nc, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	d.nc = newTransport(tc)
	return d.nc, nil
}
