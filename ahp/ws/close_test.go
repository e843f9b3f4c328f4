package ws

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// connectGorilla returns a host's Conn whose client is plain gorilla.
func connectGorilla(t testing.TB, opts Options) (*Conn, *websocket.Conn) {
	t.Helper()
	accepted := make(chan *Conn, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := Accept(w, r, AcceptOptions{Guard: testGuard(), Conn: opts})
		if err != nil {
			t.Error(err)
			return
		}
		accepted <- c
	})
	d := websocket.Dialer{NetDialContext: s.net.Dial, EnableCompression: true}
	g, resp, err := d.Dial(testURL, http.Header{"Authorization": {"Bearer " + testToken}})
	if err != nil {
		t.Fatal(err)
	}
	if ext := resp.Header["Sec-Websocket-Extensions"]; ext != nil {
		t.Errorf("negotiated %q", ext)
	}
	host := <-accepted
	t.Cleanup(func() {
		g.Close()
		host.Close(CodeNormal, "")
		host.Wait()
		s.close()
	})
	return host, g
}

func TestCloseTellsTheOtherSide(t *testing.T) {
	for _, c := range []struct {
		code   CloseCode
		reason string
	}{{CodeGoingAway, "shutting down"}, {CodeSlow, ""}, {CodePolicy, strings.Repeat("é", 100)}} {
		p := connect(t, Options{}, Options{})
		p.host.Close(c.code, c.reason)
		p.host.Close(CodeInternal, "too late")
		_, err := p.client.ReadMessage()
		wantClosed(t, err, c.code, true)
		if ce, _ := errors.AsType[*CloseError](err); !strings.HasPrefix(c.reason, ce.Reason) || len(ce.Reason) < min(len(c.reason), 122) {
			t.Errorf("reason %q, want %q", ce.Reason, c.reason)
		}
		_, err = p.host.ReadMessage()
		wantClosed(t, err, c.code, false)
		wantClosed(t, p.host.WriteBatch(texts(1)), c.code, false)
		p.client.Wait()
		p.host.Wait()
	}
}

// A socket that takes nothing does not delay Close, and is closed within CloseGrace.
func TestCloseOfAFullSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, Options{}, Options{})
		p.wire.Freeze()
		written := make(chan error, 1)
		go func() { written <- p.host.WriteBatch(texts(4 << 20)) }()
		synctest.Wait()
		start := time.Now()
		p.host.Close(CodeGoingAway, "")
		if d := time.Since(start); d != 0 {
			t.Errorf("Close took %s", d)
		}
		wantClosed(t, <-written, CodeGoingAway, false)
		p.host.Wait()
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("the socket was open for %s", d)
		}
	})
}

// The frame that is being written completes before the close frame.
func TestCloseFrameFollowsTheFrameInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, Options{}, Options{})
		p.wire.Freeze()
		msgs := texts(1<<20, 10)
		go func() { _ = p.host.WriteBatch(msgs) }()
		synctest.Wait()
		p.host.Close(CodeRestart, "")
		p.wire.Thaw()
		got, err := readAll(p.client, 1)
		if err != nil || string(got[0]) != string(msgs[0]) {
			t.Errorf("the message in flight was cut: %v", err)
		}
		_, err = p.client.ReadMessage()
		wantClosed(t, err, CodeRestart, true)
	})
}

func TestSlowPeer(t *testing.T) {
	t.Run("no progress for 10 s", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := connect(t, Options{}, Options{})
			p.wire.Freeze()
			const header = 10
			if err := p.host.WriteBatch(texts(ahptest.DefaultBuffer - header)); err != nil { // fills the socket
				t.Fatal(err)
			}
			start := time.Now()
			wantClosed(t, p.host.WriteBatch(texts(1)), CodeSlow, false)
			if d := time.Since(start); d != 10*time.Second {
				t.Errorf("given up after %s", d)
			}
			p.host.Wait()
		})
	})
	t.Run("a little progress is progress", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			host, g := connectGorilla(t, Options{})
			written := make(chan error, 1)
			go func() { written <- host.WriteBatch(texts(1 << 20)) }()
			go func() { _, _ = host.ReadMessage() }()
			buf := make([]byte, 16<<10)
			for range 70 {
				time.Sleep(8 * time.Second)
				if _, err := g.NetConn().Read(buf); err != nil {
					t.Fatal(err)
				}
				if _, err := g.NetConn().Write([]byte{0x8A, 0x80, 0, 0, 0, 0}); err != nil { // a pong, which ends the silence
					t.Fatal(err)
				}
			}
			if err := <-written; err != nil {
				t.Error(err)
			}
		})
	})
}

// A connection that is cut at any byte ends, during any operation.
func TestCutAnywhere(t *testing.T) {
	for n := range 60 {
		p := connect(t, Options{}, Options{})
		p.wire.CutAfter(n)
		go func() {
			_ = p.client.WriteBatch(texts(30))
			p.client.Close(CodeNormal, "done")
		}()
		var err error
		for err == nil {
			_, err = p.host.ReadMessage()
		}
		p.host.Wait()
		p.client.Wait()
	}
}
