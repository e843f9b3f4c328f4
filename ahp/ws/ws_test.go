package ws

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

const (
	testHost  = "host.test:80"
	testToken = "a-view-token"
	testURL   = "ws://" + testHost + "/ahp"
)

func testGuard() *Guard {
	return &Guard{Hosts: []string{testHost}, Tokens: []Token{{Secret: testToken, Role: "view"}}}
}

// server serves one handler on an in-memory network, inside a synctest bubble or not.
type server struct {
	net  *ahptest.Net
	http *http.Server
	done chan struct{}
}

func serve(t testing.TB, h http.HandlerFunc) *server {
	t.Helper()
	s := &server{net: &ahptest.Net{}, http: &http.Server{Handler: h}, done: make(chan struct{})}
	l, err := s.net.Listen(testHost)
	if err != nil {
		t.Fatal(err)
	}
	go func() { defer close(s.done); _ = s.http.Serve(l) }()
	t.Cleanup(s.close)
	return s
}

func (s *server) close() {
	_ = s.http.Close()
	<-s.done
}

// pair has both ends of an upgraded connection over the in-memory network.
type pair struct {
	host, client *Conn
	wire         *ahptest.Conn // the client's end of the network
}

func connect(t testing.TB, host, client Options) *pair {
	t.Helper()
	return connectOver(t, ahptest.DefaultBuffer, host, client)
}

// connectOver is connect with another size of the sockets' buffers.
func connectOver(t testing.TB, socket int, host, client Options) *pair {
	t.Helper()
	accepted := make(chan *Conn, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := Accept(w, r, AcceptOptions{Guard: testGuard(), Conn: host})
		if err != nil {
			t.Error(err)
			return
		}
		accepted <- c
	})
	s.net.Buffer = socket
	p := &pair{}
	c, err := Dial(t.Context(), testURL, DialOptions{Token: testToken, Conn: client, NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := s.net.Dial(ctx, network, addr)
		if err == nil {
			p.wire = nc.(*ahptest.Conn)
		}
		return nc, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.host, p.client = <-accepted, c
	t.Cleanup(func() {
		p.wire.Thaw()
		p.client.Close(CodeNormal, "")
		p.host.Close(CodeNormal, "")
		p.client.Wait()
		p.host.Wait()
		s.close()
	})
	return p
}

// within fails a test that waits longer than any machine needs.
func within[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}
