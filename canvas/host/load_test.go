package host_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// loaded is a host on an in-memory network.
type loaded struct {
	*host.Host
	t       *testing.T
	network *ahptest.Net
	address string
}

func startLoaded(t *testing.T, opts host.Options) *loaded {
	l := &loaded{t: t, network: &ahptest.Net{}}
	ln, err := l.network.Listen("127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	if l.Host, err = host.New(opts); err != nil {
		t.Fatal(err)
	}
	l.address = ln.Addr().String()
	if err := l.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Serve(ctx, ln) }()
	t.Cleanup(func() { stop(); <-done })
	return l
}

// connect opens an AHP connection as a page does.
func (l *loaded) connect() *ws.Conn {
	l.t.Helper()
	view, _ := l.Tokens()
	c, err := ws.Dial(l.t.Context(), l.Endpoints().AHP, ws.DialOptions{Token: view, NetDial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return l.network.Dial(ctx, "", l.address)
	}})
	if err != nil {
		l.t.Fatal(err)
	}
	patience := time.AfterFunc(time.Hour, func() { c.Close(ws.CodeNormal, "the test has hung") })
	l.t.Cleanup(func() { patience.Stop(); c.Close(ws.CodeNormal, ""); c.Wait() })
	synctest.Wait()
	return c
}

// A connection over the limit is closed with the code that asks to retry later. When
// another connection ends, the next one is accepted.
func TestMaxConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLoaded(t, host.Options{MaxConnections: 2})
		first, second := l.connect(), l.connect()
		for n := range 2 {
			third := l.connect()
			if _, err := third.ReadMessage(); ws.CodeOf(err) != ws.CodeTryLater {
				t.Errorf("the third connection: %v", err)
			}
			if got := l.Load(); got.Connections != 2 || got.MaxConnections != 2 || got.Refused != uint64(n+1) {
				t.Errorf("%+v", got)
			}
		}
		first.Close(ws.CodeNormal, "")
		first.Wait()
		synctest.Wait()
		l.connect()
		if got := l.Load(); got.Connections != 2 || got.Refused != 2 {
			t.Errorf("%+v", got)
		}
		if second.Err() != nil {
			t.Errorf("an earlier connection ended: %v", second.Err())
		}
	})
}

// Idle connections are limited, and do not keep a page from connecting.
func TestIdleConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLoaded(t, host.Options{MaxHTTP: 8})
		for range 20 {
			c, err := l.network.Dial(t.Context(), "", l.address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			synctest.Wait()
			time.Sleep(200 * time.Millisecond)
		}
		if got := l.Load().HTTP; got.Open != 8 || got.Max != 8 || got.Evicted+got.Refused != 12 {
			t.Errorf("%+v", got)
		}
		page, err := l.network.Dial(t.Context(), "", l.address)
		if err != nil {
			t.Fatal(err)
		}
		defer page.Close()
		fmt.Fprint(page, "GET /healthz HTTP/1.1\r\nHost: localhost:80\r\nConnection: close\r\n\r\n")
		if answer, err := io.ReadAll(page); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
			t.Errorf("%q, %v", answer, err)
		}
		before := l.Load().HTTP.Open
		l.connect()
		if got := l.Load(); got.Connections != 1 || got.HTTP.Open != before {
			t.Errorf("an AHP connection counts as an HTTP connection: %+v", got)
		}
	})
}
