package ws

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// Neither gorilla's writes nor its deadlines reach the socket.
func TestSealedTransportWritesNothing(t *testing.T) {
	a, b := ahptest.Pipe(0)
	tr := newTransport(a)
	_, _ = tr.Write([]byte("upgrade"))
	tr.sealed.Store(true)
	if n, err := tr.Write([]byte("close frame")); n != 11 || err != nil {
		t.Error(n, err)
	}
	tr.closeWrite()
	if got, _ := io.ReadAll(b); string(got) != "upgrade" {
		t.Errorf("%q reached the wire", got)
	}
	tr.Close()
	b.Close()
}

// On a real socket, closing with unread bytes resets the connection and destroys the
// close frame. An oversized message would show that.
func TestCloseFrameSurvivesUnreadBytes(t *testing.T) {
	guard := testGuard()
	hosts := make(chan *Conn, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, _, err := Accept(w, r, AcceptOptions{Guard: guard, Conn: Options{ReadLimit: 1000}}); err == nil {
			hosts <- c
		}
	}))
	defer srv.Close()
	guard.Hosts = []string{srv.Listener.Addr().String()}
	for range 5 {
		c, err := Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"), DialOptions{Token: testToken})
		if err != nil {
			t.Fatal(err)
		}
		host := <-hosts
		written := make(chan struct{})
		go func() { defer close(written); _ = c.WriteBatch(texts(16 << 20)) }()
		_, err = host.ReadMessage()
		wantClosed(t, err, CodeTooBig, false)
		_, err = c.ReadMessage()
		wantClosed(t, err, CodeTooBig, true)
		<-written
		c.Wait()
		host.Wait()
	}
}
