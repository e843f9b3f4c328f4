package ws

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// connectTCP returns both ends of a connection over loopback. The client's socket has a
// small buffer, so that the host's is soon full.
func connectTCP(t testing.TB, host Options) *pair {
	t.Helper()
	accepted := make(chan *Conn, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Upgrade(w, r, host)
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.out.nc.Conn.(*net.TCPConn).SetWriteBuffer(16 << 10)
		accepted <- c
	}))
	small := func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			_ = nc.(*net.TCPConn).SetReadBuffer(16 << 10)
		}
		return nc, err
	}
	c, err := Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"), DialOptions{NetDial: small})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{host: <-accepted, client: c}
	t.Cleanup(func() {
		p.client.Close(CodeNormal, "")
		p.host.Close(CodeNormal, "")
		p.client.Wait()
		p.host.Wait()
		srv.Close()
	})
	return p
}
