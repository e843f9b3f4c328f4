package look

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// gate is the proxy of a browser: it reaches the host's listener and nothing else.
type gate struct {
	port   string // of the host's listener
	target string // its address
	ln     net.Listener
	srv    *http.Server
	plain  *httputil.ReverseProxy

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{} // tunnels
	done   sync.WaitGroup
}

// newGate listens on loopback for the browser of the page at address.
func newGate(address *url.URL) (*gate, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	host := address.Hostname()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	g := &gate{port: address.Port(), target: net.JoinHostPort(host, address.Port()), ln: ln, conns: map[net.Conn]struct{}{}}
	g.plain = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return g.dial(ctx) },
			IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 16, DisableCompression: true},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	g.srv = &http.Server{Handler: g, ReadHeaderTimeout: LookTime}
	g.done.Go(func() { _ = g.srv.Serve(ln) })
	return g, nil
}

func (g *gate) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", g.target)
}

// allows reports whether a name and port are those of the page or of a canvas's frame.
func (g *gate) allows(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || port != g.port {
		return false
	}
	host = strings.ToLower(host)
	return net.JoinHostPort(host, port) == g.target || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect && g.allows(r.Host):
		g.tunnel(w, r)
	case r.Method != http.MethodConnect && r.URL.Scheme == "http" && g.allows(r.URL.Host) && g.allows(r.Host):
		g.plain.ServeHTTP(w, r)
	default:
		http.Error(w, "a canvas reaches only its own files", http.StatusForbidden)
	}
}

// tunnel connects a WebSocket of the browser with the host.
func (g *gate) tunnel(w http.ResponseWriter, r *http.Request) {
	out, err := g.dial(r.Context())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	if !g.enter(in, out) {
		return
	}
	defer g.leave(in, out)
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(out, buffered)
		_ = errors.Join(out.Close(), in.Close())
	}()
	_, _ = io.Copy(in, out)
	_ = errors.Join(out.Close(), in.Close())
	<-ended
}

func (g *gate) enter(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.done.Add(1)
	for _, c := range conns {
		g.conns[c] = struct{}{}
	}
	return true
}

func (g *gate) leave(conns ...net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		delete(g.conns, c)
	}
	g.done.Done()
}

// close ends all connections and waits.
func (g *gate) close() {
	_ = g.srv.Close()
	g.mu.Lock()
	g.closed = true
	for c := range g.conns {
		_ = c.Close()
	}
	g.mu.Unlock()
	g.done.Wait()
	g.plain.Transport.(*http.Transport).CloseIdleConnections()
}
