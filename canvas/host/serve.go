package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

var (
	errServed    = errors.New("host: Serve was called before")
	errExhausted = fmt.Errorf("%w: repair the store, whose errors are in the log, and restart", channels.ErrSequenceExhausted)
)

// ListenAndServe listens on a TCP address and calls [Host.Serve]. An address without a
// host name, such as ":8080", is reachable from other machines without encryption.
func (h *Host) ListenAndServe(ctx context.Context, addr string) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return h.Serve(ctx, ln)
}

// Serve serves HTTP on a listener until ctx is canceled, then calls [Host.Close] and
// returns its error: nil after a clean drain. It closes the listener. It can be called
// once. If the host's store refuses sequence numbers for too long, Serve stops with an
// error.
//
// Serve speaks plain HTTP. For TLS, put a proxy before it, or use the host as the handler
// of an http.Server with certificates.
func (h *Host) Serve(ctx context.Context, ln net.Listener) error {
	srv, err := h.begun(ln)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	if h.opts.Ready != nil {
		h.opts.Ready(h.Link(DefaultSession))
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		if errors.Is(err, http.ErrServerClosed) { // Close was called
			return h.Close()
		}
		return errors.Join(fmt.Errorf("host: %w", err), h.Close())
	case <-h.stuck:
	case <-ctx.Done():
	}
	err = h.Close()
	<-failed
	return err
}

// begun makes the server of Serve.
func (h *Host) begun(ln net.Listener) (*http.Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closing.Load():
		return nil, fmt.Errorf("host: %w", http.ErrServerClosed)
	case h.srv != nil:
		return nil, errServed
	}
	if err := h.sites.setAddr(ln.Addr(), true); err != nil {
		return nil, err
	}
	h.srv = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(h.logger.Handler(), slog.LevelDebug),
	}
	h.conns.Watch(h.srv)
	return h.srv, nil
}

// ServeStdio serves MCP on standard streams until the input ends, ctx is canceled or the
// host is closed; it closes both streams. It is for a program that an agent starts.
func (h *Host) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return h.tools.ServeStdio(ctx, in, out)
}

// Close drains the host: it accepts nothing more, answers the requests that it has
// accepted, waits for Options.Drain at most, closes every AHP connection with code 1001,
// and commits what is still to be written. It returns an error if something was cut off
// or could not be written. Further calls wait for the first one and return its error.
//
// A program with its own http.Server calls Close before the server's Shutdown, which
// otherwise waits for MCP streams and does not wait for WebSockets.
func (h *Host) Close() error { return h.drained() }

func (h *Host) drain() error {
	h.mu.Lock()
	h.closing.Store(true)
	close(h.closed)
	srv := h.srv
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), h.opts.Drain)
	defer cancel()
	h.gateway.Close()
	h.views.close()
	var wg sync.WaitGroup
	var closed, answered, stopped error
	if srv != nil {
		wg.Go(func() { stopped = srv.Shutdown(ctx) })
	}
	wg.Go(func() { closed = h.server.Close(ctx) })
	wg.Go(func() { answered = h.tools.Shutdown(ctx) })
	wg.Wait()
	h.apps.Close()
	h.expiring.Wait()
	err := errors.Join(h.exhausted(), closed, answered, stopped, h.canvases.Shutdown(ctx), h.history.Flush(ctx), h.sessions.Shutdown(ctx))
	if srv != nil {
		err = errors.Join(err, srv.Close())
	}
	h.memory.Close()
	h.sequence.Close()
	return err
}

// exhausted returns an error if the host could change nothing any more.
func (h *Host) exhausted() error {
	select {
	case <-h.stuck:
		return fmt.Errorf("host: %w", errExhausted)
	default:
		return nil
	}
}
