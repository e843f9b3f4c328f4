package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// padded is a message of a given size.
func padded(message string, size int) string {
	return strings.Repeat(" ", size-len(message)) + message
}

// The default limits: a body of 1 MiB, 256 sessions.
func TestDefaultLimits(t *testing.T) {
	server := mcp.New(newFake(), mcp.Options{})
	handler := mcp.Handler(server)
	enters := func(body string) int { return ask(t, handler, body, "").Code }
	if status := enters(padded(initialize, 1<<20+1)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 1 MiB and a byte: status %d", status)
	}
	if status := enters(padded(initialize, 1<<20)); status != http.StatusOK {
		t.Errorf("a body of 1 MiB: status %d", status)
	}
	for n := range 600 { // all but 256 are replaced
		if status := enters(initialize); status != http.StatusOK {
			t.Fatalf("session %d: status %d", n+2, status)
		}
	}
	if n := server.Sessions(); n != 256 {
		t.Errorf("%d sessions", n)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// At the limit a new session replaces the one that was used least recently. One with an
// active call stays, and if all have one, the new session is refused.
func TestAbandonedSessionsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := newFake()
		release := make(chan struct{})
		service.block = func(ctx context.Context) error {
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		refused := 0
		server := mcp.New(service, mcp.Options{MaxSessions: 3, Refused: func(*http.Request) { refused++ }})
		handler := mcp.Handler(server)
		const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
		const wait = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"invoke_canvas_action","arguments":{"instanceId":"c","actionName":"wait"}}}`
		enter := func() (id string, status int) {
			time.Sleep(time.Second)
			w := ask(t, handler, initialize, "")
			return w.Header().Get("Mcp-Session-Id"), w.Code
		}
		busy, _ := enter()
		answered := make(chan int, 3)
		call := func(session string) { go func() { answered <- ask(t, handler, wait, session).Code }(); synctest.Wait() }
		call(busy)
		old, _ := enter()
		used, _ := enter()
		time.Sleep(time.Second)
		ask(t, handler, ping, old)
		third, status := enter() // in place of used
		if status != http.StatusOK {
			t.Fatalf("a new session: status %d", status)
		}
		for id, want := range map[string]int{old: http.StatusOK, used: http.StatusNotFound, third: http.StatusOK} {
			if got := ask(t, handler, ping, id).Code; got != want {
				t.Errorf("session %s: status %d, want %d", id, got, want)
			}
		}
		call(old)
		call(third)
		if _, status := enter(); status != http.StatusServiceUnavailable || refused != 1 {
			t.Errorf("beside three active sessions: status %d, %d refused", status, refused)
		}
		close(release)
		for range 3 {
			if status := <-answered; status != http.StatusOK {
				t.Errorf("a call: status %d", status)
			}
		}
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if _, status := enter(); status != http.StatusServiceUnavailable || refused != 1 {
			t.Errorf("of a host that stopped: status %d, %d refusals were delayed", status, refused)
		}
	})
}

// A line of standard input is limited to 1 MiB, like a body; a longer one ends the
// session.
func TestLineLimit(t *testing.T) {
	pipe, ended := serveStdio(t.Context(), newFake())
	defer pipe.Writer.Close()
	answers := bufio.NewReader(pipe.Reader)
	say := func(size int) (string, error) {
		go func() { _, _ = io.WriteString(pipe.Writer, padded(initialize, size)+"\n") }()
		return answers.ReadString('\n')
	}
	if line, err := say(1 << 20); err != nil || !strings.Contains(line, `"result"`) {
		t.Fatalf("a line of 1 MiB is answered with %q, %v", line, err)
	}
	if line, err := say(1<<20 + 1); err == nil {
		t.Fatalf("a byte more is answered with %q", line)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "maximum line length") {
		t.Errorf("a byte more: %v", err)
	}
}

// On shutdown, an active call has 10 s to end.
func TestDrainTime(t *testing.T) {
	for takes, want := range map[time.Duration]error{10*time.Second - 1: nil, time.Minute: context.DeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			service := newFake()
			service.block = func(ctx context.Context) error {
				select {
				case <-time.After(takes):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			pipe, ended := serveStdio(ctx, service)
			agent := enter(t, pipe, "")
			answered := calling(t.Context(), agent, mcp.ToolInvoke, `{"instanceId":"c","actionName":"wait"}`)
			synctest.Wait()
			began := time.Now()
			stop()
			err := <-ended
			if d := time.Since(began); !errors.Is(err, want) || d != min(takes, 10*time.Second) {
				t.Errorf("a call of %s: %v after %s", takes, err, d)
			}
			if err := <-answered; err != nil && want == nil { // a canceled call can get an error
				t.Errorf("a call of %s got %v", takes, err)
			}
		})
	}
}
