package host_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestAnAddressHasPartOfTheConnections: a holder of the link who opens all the connections
// that an address can have leaves those of other addresses. The addresses are those that a
// trusted proxy reports.
func TestAnAddressHasPartOfTheConnections(t *testing.T) {
	proxies, err := remote.Parse([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{MaxConnections: 70, Proxies: proxies})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, ln) }()
	defer func() { stop(); <-served }()
	if err := h.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	view, _ := h.Tokens()
	var open []*ws.Conn
	defer func() {
		for _, c := range open {
			c.Close(ws.CodeNormal, "")
			c.Wait()
		}
	}()
	// from connects and waits for an answer. The error is why the host closed it.
	from := func(addr string) error {
		t.Helper()
		c, err := ws.Dial(t.Context(), h.Endpoints().AHP, ws.DialOptions{Token: view, Header: http.Header{"X-Forwarded-For": {addr}}})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		_ = c.WriteBatch([][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`)})
		_, err = c.ReadMessage()
		return err
	}
	for range 64 {
		if err := from("203.0.113.5"); err != nil {
			t.Fatal(err)
		}
	}
	if err := from("203.0.113.5"); ws.CodeOf(err) != ws.CodeTryLater {
		t.Errorf("one above the limit of an address: %v", err)
	}
	if err := from("203.0.113.6"); err != nil {
		t.Errorf("another address: %v", err)
	}
	open[0].Close(ws.CodeNormal, "")
	open[0].Wait()
	late := time.Now().Add(30 * time.Second)
	for err = from("203.0.113.5"); err != nil && time.Now().Before(late); { // the host reads the close a moment later
		err = from("203.0.113.5")
	}
	if err != nil {
		t.Errorf("a connection that ended still counts: %v", err)
	}
}
