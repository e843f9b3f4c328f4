package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// statusEvery is how often a person is told how things stand.
const statusEvery = time.Second

// statusLine is the last line of a terminal, drawn anew where it stands. What is
// written through it, such as a log, goes above it.
type statusLine struct {
	mu   sync.Mutex
	w    io.Writer
	text string // "" shows none
}

// withStatusLine gives standard error a status line where it is a terminal; nil
// elsewhere.
func (a *app) withStatusLine() *statusLine {
	if !isTerminal(a.errs) {
		return nil
	}
	line := &statusLine{w: a.errs}
	a.errs = line
	return line
}

// Write writes whole lines above the status.
func (l *statusLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return l.w.Write(p)
	}
	var b bytes.Buffer
	b.WriteString(eraseLine)
	b.Write(p)
	b.WriteString(l.text)
	if _, err := b.WriteTo(l.w); err != nil {
		return 0, err
	}
	return len(p), nil
}

// set draws another status; "" takes it away.
func (l *statusLine) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == l.text {
		return
	}
	l.text = text
	fmt.Fprint(l.w, eraseLine+text) // a terminal that is gone has nobody to tell
}

// follow shows how a host and its relay stand until ctx is done, and takes the
// line away.
func (l *statusLine) follow(ctx context.Context, h *host.Host, relayWords func() string) {
	defer l.set("")
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		if open, err := h.Canvases().ListOpen(host.DefaultSession); err == nil {
			l.set(statusWords(open, h.Load().Connections) + relayWords())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// statusWords is short, so that no terminal wraps it.
func statusWords(open []canvas.OpenCanvas, connections int) string {
	stale := 0
	for _, o := range open {
		if o.Availability == session.Stale {
			stale++
		}
	}
	text := fmt.Sprintf("  %d canvases open", len(open))
	if len(open) == 1 {
		text = "  1 canvas open"
	}
	if stale > 0 {
		text += fmt.Sprintf(", %d stale", stale)
	}
	return text + fmt.Sprintf(", %d connected", connections)
}
