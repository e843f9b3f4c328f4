package seal

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flynn/noise"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

// tamper is what a relay does with the frames of one direction: it returns the frames that
// it passes on in place of frame n, which counts from 0 and includes the handshake. nil
// ends the connection.
type tamper func(n int, frame []byte) [][]byte

// pass changes nothing.
func pass(_ int, frame []byte) [][]byte { return [][]byte{frame} }

// path is a client's connection to a host through a relay that tampers. The ends are not
// sealed yet.
type path struct{ client, host *ws.Conn }

func connect(t testing.TB, toHost, toClient tamper) *path {
	t.Helper()
	hosts := make(chan *ws.Conn, 1)
	upgrade := func(w http.ResponseWriter, r *http.Request) *ws.Conn {
		c, err := ws.Upgrade(w, r, ws.Options{ReadLimit: 8 << 20})
		if err != nil {
			t.Error(err)
		}
		return c
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hosts <- upgrade(w, r) }))
	dial := func(url string) *ws.Conn {
		c, err := ws.Dial(context.Background(), strings.Replace(url, "http", "ws", 1), ws.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ended := make(chan struct{})
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		a, b := upgrade(w, r), dial(host.URL)
		back := make(chan struct{})
		go func() { defer close(back); forward(a, b, toClient) }()
		forward(b, a, toHost)
		<-back
		a.Wait()
		b.Wait()
	}))
	p := &path{client: dial(relay.URL)}
	p.host = <-hosts
	t.Cleanup(func() {
		p.client.Close(ws.CodeNormal, "")
		p.host.Close(ws.CodeNormal, "")
		p.client.Wait()
		p.host.Wait()
		<-ended
		relay.Close()
		host.Close()
	})
	return p
}

// forward passes frames on until one end has closed, and closes the other in the same way.
func forward(dst, src *ws.Conn, do tamper) {
	for n := 0; ; n++ {
		frame, err := src.ReadBinary(1<<16 - 1)
		if err != nil {
			break
		}
		frames := do(n, frame)
		if frames == nil {
			src.Close(ws.CodeNormal, "cut")
			break
		}
		for _, f := range frames {
			_ = dst.WriteBinary(f)
		}
	}
	code := ws.CodeOf(src.Err())
	if code == ws.CodeLost || code == ws.CodeNoStatus {
		code = ws.CodeNormal
	}
	dst.Close(code, "")
}

// seal runs the handshake of both ends.
func (p *path) seal(t testing.TB, h *Host, id Identity) (client, host error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- h.Accept(t.Context(), p.host, "ann") }()
	client = id.Dial(t.Context(), p.client)
	return client, <-done
}

// testCodecs returns the codecs of both ends after a handshake.
func testCodecs(t testing.TB) (client, host *codec) {
	t.Helper()
	public := testKey.Public()
	a, err := noise.NewHandshakeState(noise.Config{CipherSuite: suite, Pattern: noise.HandshakeNK, Initiator: true, PeerStatic: public[:]})
	if err != nil {
		t.Fatal(err)
	}
	b, err := noise.NewHandshakeState(noise.Config{CipherSuite: suite, Pattern: noise.HandshakeNK, StaticKeypair: noise.DHKey{Private: testKey.private.Bytes(), Public: public[:]}})
	if err != nil {
		t.Fatal(err)
	}
	first, _, _, err := a.WriteMessage(nil, nil)
	if err == nil {
		_, _, _, err = b.ReadMessage(nil, first)
	}
	if err != nil {
		t.Fatal(err)
	}
	second, up, down, err := b.WriteMessage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, up2, down2, err := a.ReadMessage(nil, second)
	if err != nil {
		t.Fatal(err)
	}
	return &codec{send: direction{cipher: up2}, receive: direction{cipher: down2}}, &codec{send: direction{cipher: down}, receive: direction{cipher: up}}
}

// inMemory returns both ends of a connection without a relay, over an in-memory network.
func inMemory(t testing.TB) (client, host *ws.Conn) {
	t.Helper()
	network := &ahptest.Net{}
	l, err := network.Listen("host.test:80")
	if err != nil {
		t.Fatal(err)
	}
	hosts := make(chan *ws.Conn, 1)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := ws.Upgrade(w, r, ws.Options{})
		if err != nil {
			t.Error(err)
		}
		hosts <- c
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(l) }()
	client, err = ws.Dial(t.Context(), "ws://host.test:80/", ws.DialOptions{NetDial: network.Dial})
	if err != nil {
		t.Fatal(err)
	}
	host = <-hosts
	t.Cleanup(func() {
		client.Close(ws.CodeNormal, "")
		host.Close(ws.CodeNormal, "")
		client.Wait()
		host.Wait()
		_ = srv.Close()
		<-served
	})
	return client, host
}
