package ahptest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestMain(m *testing.M) { VerifyNoLeaks(m) }

func TestPipeCarriesBytesAndTheEnd(t *testing.T) {
	a, b := Pipe(10)
	want := bytes.Repeat([]byte("0123456789abc"), 1000)
	go func() {
		_, _ = a.Write(want)
		_ = a.CloseWrite()
	}()
	got, err := io.ReadAll(b)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := b.Write([]byte("x")); err != nil {
		t.Error("the other direction was closed:", err)
	}
	_ = a.Close()
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Error(err)
	}
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe(10)
		start := time.Now()
		_ = a.SetDeadline(start.Add(3 * time.Second))
		if n, err := a.Write(make([]byte, 15)); n != 10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(n, err)
		}
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Error(d)
		}
		_ = a.SetDeadline(time.Time{})
		_, _ = b.Write([]byte("x"))
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Error("a deadline that was taken back still holds:", err)
		}
		_ = b.SetReadDeadline(time.Unix(1, 0))
		if n, err := b.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(n, err)
		}
	})
}

func TestFreezeAndThaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe(10)
		b.Freeze()
		if _, err := a.Write(make([]byte, 10)); err != nil {
			t.Fatal("a frozen end must not be noticed before the buffer is full:", err)
		}
		read := make(chan int, 1)
		go func() {
			n, _ := b.Read(make([]byte, 10))
			read <- n
		}()
		synctest.Wait()
		if len(read) != 0 {
			t.Error("a frozen end read")
		}
		b.Thaw()
		if n := <-read; n != 10 {
			t.Error(n)
		}
	})
}

func TestCutAfter(t *testing.T) {
	a, b := Pipe(100)
	a.CutAfter(5)
	if n, err := a.Write([]byte("123")); n != 3 || err != nil {
		t.Error(n, err)
	}
	if n, err := a.Write([]byte("45678")); n != 2 || !errors.Is(err, syscall.ECONNRESET) {
		t.Error(n, err)
	}
	for _, c := range []*Conn{a, b} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}

// net/http runs over the network inside a synctest bubble.
func TestServesHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network Net
		l, err := network.Listen("h:80")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := network.Listen("h:80"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Error(err)
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Minute)
			_, _ = io.WriteString(w, r.Host)
		})}
		go func() { _ = srv.Serve(l) }()
		tr := &http.Transport{DialContext: network.Dial}
		resp, err := (&http.Client{Transport: tr}).Get("http://h/")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if string(body) != "h" {
			t.Errorf("have %q", body)
		}
		tr.CloseIdleConnections()
		_ = srv.Close()
		if _, err := network.Dial(context.Background(), "tcp", "h:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Error(err)
		}
	})
}
