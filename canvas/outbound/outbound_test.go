package outbound_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
)

// canary is a server on this machine that counts what reaches it.
type canary struct {
	*httptest.Server
	conns, requests atomic.Int64
	tokens          atomic.Int64
}

func newCanary(t *testing.T, secure bool, h http.HandlerFunc) *canary {
	t.Helper()
	c := &canary{}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		if strings.Contains(r.Header.Get("Authorization")+r.Header.Get("X-Secret"), "secret") {
			c.tokens.Add(1)
		}
		h(w, r)
	}))
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.conns.Add(1)
		}
	}
	c.Config.ErrorLog = nil
	if secure {
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(c.Close)
	return c
}

func (c *canary) port(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func (c *canary) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.Certificate())
	return pool
}

// names serves DNS on a real socket: every name has the address that it holds now.
type names struct {
	conn    net.PacketConn
	address atomic.Pointer[netip.Addr]
	done    chan struct{}
}

func newNames(t *testing.T, address string) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn, done: make(chan struct{})}
	n.set(address)
	go n.serve()
	t.Cleanup(func() { _ = conn.Close(); <-n.done })
	return n
}

func (n *names) set(address string) {
	a := netip.MustParseAddr(address)
	n.address.Store(&a)
}

func (n *names) serve() {
	defer close(n.done)
	buf := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		out := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}, Questions: m.Questions}
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch a := *n.address.Load(); {
		case q.Type == dnsmessage.TypeA && a.Is4():
			out.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: a.As4()}}}
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			out.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}}}
		}
		if packed, err := out.Pack(); err == nil {
			_, _ = n.conn.WriteTo(packed, from)
		}
	}
}

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func get(t *testing.T, c *outbound.Client, url string) (*http.Response, error) {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(req)
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "172.15.0.1": true, "172.32.0.1": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "127.0.0.1": false, "127.255.0.1": false,
		"169.254.169.254": false, "172.16.0.1": false, "192.168.1.1": false, "192.0.0.8": false, "198.18.0.1": false,
		"203.0.113.9": false, "224.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "fe80::1": false, "fc00::1": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2001:db8::1": false, "2001::1": false, "2002:7f00:1::1": false,
		"::127.0.0.1": false, "fec0::1": false,
	} {
		if got := outbound.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("Public(%s) = %v", address, got)
		}
	}
}

// TestNoConnection: the client connects to no private address, whatever its name is.
func TestNoConnection(t *testing.T) {
	t.Parallel()
	c := newCanary(t, true, ok)
	dns := newNames(t, "127.0.0.1")
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "rebind.example"} {
		client := outbound.New(outbound.Options{Resolver: dns.resolver(), RootCAs: c.roots()})
		if _, err := get(t, client, "https://"+host+":"+c.port(t)+"/"); !errors.Is(err, outbound.ErrNotPublic) {
			t.Errorf("%s: %v", host, err)
		}
	}
	// Loopback allows the names of this machine, and no other name for it.
	client := outbound.New(outbound.Options{Loopback: true, Resolver: dns.resolver(), RootCAs: c.roots()})
	for _, address := range []string{"127.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "100.64.1.1", "64:ff9b::a9fe:a9fe"} {
		dns.set(address)
		if _, err := get(t, client, "https://rebind.example:"+c.port(t)+"/"); !errors.Is(err, outbound.ErrNotPublic) {
			t.Errorf("a name for %s: %v", address, err)
		}
	}
	if n := c.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// TestRebind: the address counts that is connected to, not one that was looked up before.
func TestRebind(t *testing.T) {
	t.Parallel()
	c := newCanary(t, true, ok)
	dns := newNames(t, "127.0.0.1")
	client := outbound.New(outbound.Options{Resolver: dns.resolver(), RootCAs: c.roots()})
	public := true
	client.SetPublic(func(netip.Addr) bool { return public })
	url := "https://example.com:" + c.port(t) + "/" // the name in the certificate
	resp, err := get(t, client, url)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := outbound.Read(resp, 10); err != nil || string(b) != "ok" {
		t.Fatalf("%q, %v", b, err)
	}
	_ = client.Close()
	public = false
	if _, err := get(t, client, url); !errors.Is(err, outbound.ErrNotPublic) {
		t.Errorf("after the name has changed: %v", err)
	}
	if n := c.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestProxy: a proxy of the environment is not used. It is not parallel: it sets the
// environment, which http.ProxyFromEnvironment reads once.
func TestProxy(t *testing.T) {
	proxy := newCanary(t, false, ok)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	dns := newNames(t, "127.0.0.1")
	client := outbound.New(outbound.Options{Loopback: true, Resolver: dns.resolver()}) // it could reach the proxy
	if _, err := get(t, client, "https://example.com/"); !errors.Is(err, outbound.ErrNotPublic) {
		t.Errorf("with a proxy in the environment: %v", err)
	}
	if n := proxy.conns.Load(); n != 0 {
		t.Errorf("the proxy got %d connections", n)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	client := outbound.New(outbound.Options{Loopback: true})
	only := outbound.New(outbound.Options{Origins: []string{"https://images.example", "https://odd.example:8443", "https://x.example/path"}})
	for _, c := range []struct {
		client *outbound.Client
		url    string
		want   error
	}{
		{client, "https://example.com/x?y", nil},
		{client, "http://example.com/", outbound.ErrURL},
		{client, "https://user@example.com/", outbound.ErrURL},
		{client, "ftp://example.com/", outbound.ErrURL},
		{client, "file:///etc/passwd", outbound.ErrURL},
		{client, "http://localhost:80/", nil},
		{client, "http://127.0.0.1.nip.example/", outbound.ErrURL},
		{client, "http://127.0.0.2/", outbound.ErrURL},
		{only, "https://images.example:443/a", nil},
		{only, "https://IMAGES.example/a", nil},
		{only, "https://images.example:8443/a", outbound.ErrOrigin},
		{only, "https://odd.example:8443/a", nil},
		{only, "https://images.example.evil.example/a", outbound.ErrOrigin},
		{only, "https://x.example/path", outbound.ErrOrigin},
		{only, "http://localhost/", outbound.ErrURL},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.client.Allowed(u); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.url, err, c.want)
		}
	}
	if u, _ := outbound.ParseOrigin("https://Images.Example:443/"); u != "https://images.example" {
		t.Errorf("ParseOrigin gave %q", u)
	}
}

// TestRedirects: a redirect off the origin is refused before anything is sent there.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := newCanary(t, false, ok)
	first := newCanary(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/off":
			http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		case "/file":
			http.Redirect(w, r, "http://user@"+r.Host+"/x", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			ok(w, r)
		}
	})
	send := func(c *outbound.Client, method, path string) (*http.Response, error) {
		t.Cleanup(func() { _ = c.Close() })
		req, err := http.NewRequestWithContext(t.Context(), method, first.URL+path, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("X-Secret", "secret")
		return c.Do(req)
	}
	alone := outbound.New(outbound.Options{Loopback: true})
	resp, err := send(alone, http.MethodGet, "/same")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	var refused *outbound.RedirectError
	if _, err := send(alone, http.MethodGet, "/off"); !errors.As(err, &refused) || refused.Origin != other.URL {
		t.Errorf("off the origin: %v", err)
	}
	if _, err := send(alone, http.MethodGet, "/file"); !errors.As(err, &refused) {
		t.Errorf("to a URL that is not allowed: %v", err)
	}
	if _, err := send(alone, http.MethodGet, "/loop"); !errors.As(err, &refused) || refused.Origin != "" {
		t.Errorf("without end: %v", err)
	}
	listed := outbound.New(outbound.Options{Loopback: true, Origins: []string{first.URL, other.URL}})
	if _, err := send(listed, http.MethodPost, "/off"); !errors.As(err, &refused) {
		t.Errorf("a POST to another origin: %v", err)
	}
	if n := other.requests.Load(); n != 0 {
		t.Errorf("%d requests to the other origin", n)
	}
	resp, err = send(listed, http.MethodGet, "/off")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if other.requests.Load() != 1 || other.tokens.Load() != 0 {
		t.Errorf("the listed origin got %d requests, %d with a secret", other.requests.Load(), other.tokens.Load())
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	c := newCanary(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			_, _ = io.WriteString(w, "begin")
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 80<<10))
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	})
	client := outbound.New(outbound.Options{Loopback: true, Timeout: 200 * time.Millisecond})
	resp, err := get(t, client, c.URL+"/slow")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := outbound.Read(resp, 100); err == nil {
		t.Error("a body that does not end was read")
	}
	if _, err := get(t, outbound.New(outbound.Options{Loopback: true}), c.URL+"/header?secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a header of 80 KiB: %v", err)
	}
	for max, want := range map[int64]error{100: nil, 99: outbound.ErrTooLarge} {
		resp, err := get(t, outbound.New(outbound.Options{Loopback: true}), c.URL)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := outbound.Read(resp, max); !errors.Is(err, want) || want == nil && len(b) != 100 {
			t.Errorf("at most %d: %d bytes, %v", max, len(b), err)
		}
	}
}
