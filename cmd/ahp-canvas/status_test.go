package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// The line is drawn only where it changes, stays below what is logged, and
// leaves nothing behind.
func TestStatusLine(t *testing.T) {
	var b bytes.Buffer
	l := &statusLine{w: &b}
	l.Write([]byte("before\n"))
	l.set("one")
	l.set("one")
	l.Write([]byte("log\n"))
	l.set("two")
	l.set("")
	l.Write([]byte("after\n"))
	const e = "\r\x1b[K"
	if diff := cmp.Diff("before\n"+e+"one"+e+"log\none"+e+"two"+e+"after\n", b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestStatusWords(t *testing.T) {
	ready, stale := canvas.OpenCanvas{Availability: session.Ready}, canvas.OpenCanvas{Availability: session.Stale}
	for want, open := range map[string][]canvas.OpenCanvas{
		"  0 canvases open, 7 connected":          nil,
		"  1 canvas open, 7 connected":            {ready},
		"  3 canvases open, 2 stale, 7 connected": {ready, stale, stale},
	} {
		if got := statusWords(open, 7); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A word about waiting comes after half a second, and goes again.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b lockedBuffer
		done := showProgress(&b, "Waiting")
		time.Sleep(499 * time.Millisecond)
		done()
		time.Sleep(time.Second)
		if b.String() != "" {
			t.Errorf("too early: %q", b.String())
		}
		done = showProgress(&b, "Waiting")
		time.Sleep(501 * time.Millisecond)
		synctest.Wait()
		if b.String() != "Waiting…" {
			t.Errorf("%q", b.String())
		}
		done()
		done()
		if b.String() != "Waiting…\r\x1b[K" {
			t.Errorf("%q", b.String())
		}
	})
}

// A service that is followed is left when the host ends.
func TestStatusLineEnds(t *testing.T) {
	m := newMachine(t)
	h := m.bell()
	var b lockedBuffer
	ctx, stop := context.WithCancel(t.Context())
	l := &statusLine{w: &b}
	ended := make(chan struct{})
	go func() { defer close(ended); l.follow(ctx, h, func() string { return "" }) }()
	for b.String() == "" {
	}
	stop()
	<-ended
	if got, want := b.String(), eraseLine+"  1 canvas open, 0 connected"+eraseLine; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
