package ws

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
)

func texts(lengths ...int) [][]byte {
	var msgs [][]byte
	for _, n := range lengths {
		raw := make([]byte, n)
		_, _ = rand.Read(raw)
		msgs = append(msgs, []byte(base64.StdEncoding.EncodeToString(raw))[:n])
	}
	return msgs
}

func readAll(c *Conn, n int) ([][]byte, error) {
	var got [][]byte
	for range n {
		m, err := c.ReadMessage()
		if err != nil {
			return got, err
		}
		got = append(got, m)
	}
	return got, nil
}

// arriveWhole writes messages at one end and reads them at the other.
func arriveWhole(t *testing.T, from, to *Conn, msgs [][]byte) {
	t.Helper()
	failed := make(chan error, 1)
	go func() { failed <- from.WriteBatch(msgs) }()
	got, err := readAll(to, len(msgs))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(msgs, got, cmp.Comparer(bytes.Equal)); diff != "" {
		t.Error("messages differ")
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// Every form of header, sizes around those of a piece and larger ones arrive, in both
// directions. The client's messages are masked.
func TestMessagesArriveWhole(t *testing.T) {
	msgs := texts(0, 1, 2, 125, 126, 127, 4095, 4096, 4097, 65535, 65536,
		pieceSize-maxHeader, pieceSize-maxHeader+1, pieceSize, pieceSize+1, 3*pieceSize+7, 1<<20, 5)
	p := connect(t, Options{ReadLimit: 2 << 20}, Options{})
	for name, ends := range map[string][2]*Conn{"host to client": {p.host, p.client}, "client to host": {p.client, p.host}} {
		t.Run(name, func(t *testing.T) { arriveWhole(t, ends[0], ends[1], msgs) })
	}
}

func TestStreamedMessageArrivesWhole(t *testing.T) {
	p := connect(t, Options{ReadLimit: 2 << 20}, Options{})
	for name, ends := range map[string][2]*Conn{"host to client": {p.host, p.client}, "client to host": {p.client, p.host}} {
		for _, parts := range [][]int{{}, {0}, {10, 20}, {10, 3 * pieceSize, 5}, {3 * pieceSize}, {pieceSize, pieceSize}} {
			chunks := texts(parts...)
			failed := make(chan error, 1)
			go func() {
				failed <- ends[0].Stream(func(w io.Writer) error {
					for _, c := range chunks {
						if _, err := w.Write(c); err != nil {
							return err
						}
					}
					return nil
				})
			}()
			got, err := ends[1].ReadMessage()
			if err != nil {
				t.Fatal(name, parts, err)
			}
			if want := bytes.Join(chunks, nil); !bytes.Equal(want, got) {
				t.Errorf("%s %v: have %d bytes, want %d", name, parts, len(got), len(want))
			}
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
	}
}

// An error in the middle of a streamed message ends the connection.
func TestBrokenStreamClosesInternal(t *testing.T) {
	p := connect(t, Options{}, Options{})
	boom := errors.New("boom")
	go func() {
		_ = p.host.Stream(func(w io.Writer) error {
			_, _ = w.Write(make([]byte, 2*pieceSize))
			return boom
		})
	}()
	_, err := p.client.ReadMessage()
	wantClosed(t, err, CodeInternal, true)
	p.host.Wait()
	if !errors.Is(p.host.Err(), boom) {
		t.Errorf("the cause is lost: %v", p.host.Err())
	}
}

func wantClosed(t *testing.T, err error, code CloseCode, remote bool) {
	t.Helper()
	ce, ok := errors.AsType[*CloseError](err)
	if !ok || ce.Code != code || ce.Remote != remote {
		t.Errorf("have %v, want a close with %d, remote %v", err, code, remote)
	}
}

func TestReadLimit(t *testing.T) {
	t.Run("at the limit", func(t *testing.T) {
		p := connect(t, Options{ReadLimit: 5000}, Options{})
		go func() { _ = p.client.WriteBatch(texts(5000)) }()
		if _, err := p.host.ReadMessage(); err != nil {
			t.Error(err)
		}
	})
	t.Run("above it", func(t *testing.T) {
		p := connect(t, Options{ReadLimit: 5000}, Options{})
		go func() { _ = p.client.WriteBatch(texts(5001)) }()
		_, err := p.host.ReadMessage()
		wantClosed(t, err, CodeTooBig, false)
		_, err = p.client.ReadMessage()
		wantClosed(t, err, CodeTooBig, true)
	})
	t.Run("far above it, while the client still writes", func(t *testing.T) {
		p := connect(t, Options{ReadLimit: 5000}, Options{})
		go func() { _ = p.client.WriteBatch(texts(8 << 20)) }()
		_, err := p.host.ReadMessage()
		wantClosed(t, err, CodeTooBig, false)
		_, err = p.client.ReadMessage()
		wantClosed(t, err, CodeTooBig, true)
	})
	// A handler raises the limit while the reader is waiting.
	t.Run("raised while a read waits", func(t *testing.T) {
		p := connect(t, Options{ReadLimit: 5000}, Options{})
		read := make(chan error, 1)
		go func() {
			_, err := readAll(p.host, 2)
			read <- err
		}()
		if err := p.client.WriteBatch(texts(1)); err != nil {
			t.Fatal(err)
		}
		p.host.SetReadLimit(10000)
		if err := p.client.WriteBatch(texts(10000)); err != nil {
			t.Fatal(err)
		}
		if err := within(t, read); err != nil {
			t.Error(err)
		}
	})
}

// Messages that a Conn never sends, from a gorilla client.
func TestForeignFrames(t *testing.T) {
	for name, c := range map[string]struct {
		write func(*websocket.Conn) error
		code  CloseCode
	}{
		"binary":       {func(g *websocket.Conn) error { return g.WriteMessage(websocket.BinaryMessage, []byte("{}")) }, CodeUnsupported},
		"empty binary": {func(g *websocket.Conn) error { return g.WriteMessage(websocket.BinaryMessage, nil) }, CodeUnsupported},
		"unmasked": {func(g *websocket.Conn) error {
			_, err := g.NetConn().Write([]byte{0x81, 2, '{', '}'})
			return err
		}, CodeProtocol},
		"compressed": {func(g *websocket.Conn) error {
			_, err := g.NetConn().Write([]byte{0xC1, 0x80, 0, 0, 0, 0})
			return err
		}, CodeProtocol},
		"unknown opcode": {func(g *websocket.Conn) error {
			_, err := g.NetConn().Write([]byte{0x83, 0x80, 0, 0, 0, 0})
			return err
		}, CodeProtocol},
		"length with the top bit": {func(g *websocket.Conn) error {
			_, err := g.NetConn().Write([]byte{0x81, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
			return err
		}, CodeTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			host, g := connectGorilla(t, Options{})
			if err := c.write(g); err != nil {
				t.Fatal(err)
			}
			_, err := host.ReadMessage()
			wantClosed(t, err, c.code, false)
			_, _, err = g.ReadMessage()
			if !websocket.IsCloseError(err, int(c.code)) {
				t.Errorf("the client saw %v, want close %d", err, c.code)
			}
		})
	}
}

func TestLostConnection(t *testing.T) {
	p := connect(t, Options{}, Options{})
	_ = p.wire.Close()
	_, err := p.host.ReadMessage()
	wantClosed(t, err, CodeLost, false)
	p.host.Wait()
}

func TestKeepAlive(t *testing.T) {
	t.Run("a silent peer is pinged and lives", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := connect(t, Options{}, Options{PingAfter: time.Hour, DeadAfter: 2 * time.Hour})
			go func() { _, _ = p.host.ReadMessage() }()
			go func() { _, _ = p.client.ReadMessage() }()
			time.Sleep(10*time.Minute - 1)
			if err := p.host.Err(); err != nil {
				t.Error(err)
			}
			if s := p.client.out.nc.silence(); s != 30*time.Second-1 { // the next ping is due
				t.Errorf("no ping for %s", s)
			}
		})
	})
	t.Run("a dead peer is given up after 60 s", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := connect(t, Options{}, Options{PingAfter: time.Hour, DeadAfter: 2 * time.Hour})
			p.wire.Freeze()
			start := time.Now()
			_, err := p.host.ReadMessage()
			wantClosed(t, err, CodeDead, false)
			if d := time.Since(start); d != 60*time.Second {
				t.Errorf("given up after %s", d)
			}
		})
	})
	t.Run("bytes of a long message are signs of life", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			host, g := connectGorilla(t, Options{})
			go func() {
				_, _ = g.NetConn().Write([]byte{0x81, 0xFE, 0, 200, 0, 0, 0, 0})
				for range 200 {
					time.Sleep(20 * time.Second)
					_, _ = g.NetConn().Write([]byte{'x'})
				}
			}()
			msg, err := host.ReadMessage()
			if err != nil || string(msg) != strings.Repeat("x", 200) {
				t.Errorf("%d bytes, %v", len(msg), err)
			}
		})
	})
	t.Run("pings are answered while a long message is written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			host, g := connectGorilla(t, Options{})
			pongs := make(chan string, 10)
			g.SetPongHandler(func(s string) error { pongs <- s; return nil })
			go func() { _, _ = host.ReadMessage() }()
			for _, s := range []string{"1", "2"} {
				if err := g.WriteControl(websocket.PingMessage, []byte(s), time.Time{}); err != nil {
					t.Fatal(err)
				}
			}
			go func() { _, _, _ = g.ReadMessage() }()
			synctest.Wait()
			if len(pongs) == 0 {
				t.Fatal("no pong")
			}
			last := ""
			for len(pongs) > 0 {
				last = <-pongs
			}
			if last != "2" {
				t.Errorf("the last pong answers %q, want the newest ping", last)
			}
		})
	})
}
