package ws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// socketPair returns the two ends of a TCP connection.
func socketPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if b, err = net.Dial("tcp", l.Addr().String()); err == nil {
		a, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
	return a, b
}

func TestADirectionThatWaitsHoldsNoBuffer(t *testing.T) {
	if !canTry {
		t.Skip("a socket cannot be asked here")
	}
	a, b := socketPair(t)
	f := &forwarder{taken: headerSpace, end: headerSpace, idle: make([]byte, headerSpace)}
	f.buf = f.idle
	defer f.release()
	read := f.readReady(a)
	_ = a.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if n, err := read(); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing was sent: %d, %v", n, err)
	}
	if f.held != nil || len(f.buf) != headerSpace {
		t.Error("it waited with a buffer")
	}
	_ = a.SetReadDeadline(time.Time{})
	if _, err := b.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	n, err := read()
	if err != nil || string(f.buf[f.end:f.end+n]) != "hello" || len(f.buf) != middleBuffer {
		t.Errorf("%d bytes, %v, in a buffer of %d", n, err, len(f.buf))
	}
	_ = b.Close()
	if n, err := read(); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

// TestForwardOverSockets: Forward works on sockets, which it reads directly, as it does
// on the in-memory network.
func TestForwardOverSockets(t *testing.T) {
	accepted := make(chan *Conn, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := Upgrade(w, r, Options{ReadLimit: 4 << 20}); err == nil {
			accepted <- c
		}
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	var dialled, hosts [2]*Conn
	for i := range dialled {
		if dialled[i], err = Dial(context.Background(), "ws://"+l.Addr().String(), DialOptions{}); err != nil {
			t.Fatal(err)
		}
		hosts[i] = <-accepted
	}
	ended := make(chan error, 1)
	go func() { ended <- Forward(hosts[1], hosts[0], nil) }()
	msgs := texts(0, 1, 300, 8<<10, wholeFrame, wholeFrame+1, middleBuffer, middleBuffer+1, 1<<20, 3<<20, 5)
	go func() { _ = dialled[0].WriteBatch(msgs) }()
	got, err := readAll(dialled[1], len(msgs))
	if err != nil {
		t.Fatal(err)
	}
	for i := range msgs {
		if !bytes.Equal(got[i], msgs[i]) {
			t.Errorf("message %d of %d bytes arrived as %d others", i, len(msgs[i]), len(got[i]))
		}
	}
	dialled[0].Close(CodeNormal, "bye")
	if ce := (*CloseError)(nil); !errors.As(<-ended, &ce) || ce.Code != CodeNormal || ce.Reason != "bye" {
		t.Errorf("ended by %v", ce)
	}
	for _, c := range append(dialled[:], hosts[:]...) {
		c.Close(CodeNormal, "")
		c.Wait()
	}
}
