package loopback

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
)

// Options says how an app is reached. The zero value works; a zero limit has the
// default that its comment names.
type Options struct {
	// Direct hands out the app's own url, not the channel's.
	Direct bool
	// Unreachable is called once, when the app refuses a connection. The error
	// holds its address: it is no text for people. The call is in a goroutine of
	// its own, for which Close waits, so it must not call Close.
	Unreachable func(error)
	// Probe is how often a connection is tried while the canvas is open; 2 s. A
	// negative one is never: somebody else watches the app.
	Probe time.Duration
	// Dial reaches the app; the default refuses addresses of other machines.
	Dial DialFunc
	// Jar keeps the app's cookies; the default is a new one, which is bounded. One
	// that is handed on keeps people logged in when the app was away.
	Jar http.CookieJar

	ReadBytes int64 // of one Read; 16 MiB
	// Of http/1, per View: see bridge.Options.
	Requests, Uploads   int
	HeadTimeout, Gather time.Duration

	Logger *slog.Logger // nil discards; urls do not reach it
}

func (o Options) withDefaults() Options {
	o.Probe = cmp.Or(o.Probe, 2*time.Second)
	o.ReadBytes = cmp.Or(o.ReadBytes, 16<<20)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Dial == nil {
		o.Dial = dialLoopback
	}
	return o
}

// App is one instance's way to one app: one origin, one cookie jar, a transport
// of its own. It is a canvas.Reader and a canvas.Messenger. Make it with
// [NewApp]; it ends with its handle, or by Close.
type App struct {
	opts      Options
	at        address
	handle    *canvas.Handle
	transport *http.Transport
	upstream  *upstream
	bridge    *bridge.Server
	reads     *http.Client

	ctx     context.Context // done when the app ends
	cancel  context.CancelFunc
	running sync.WaitGroup // the probe, and the call of Unreachable
	ending  sync.Once

	mu    sync.Mutex
	stop  func() bool // no more waits for the handle's end
	ended bool
	lost  bool // Unreachable was called
}

var (
	_ canvas.Reader    = (*App)(nil)
	_ canvas.Messenger = (*App)(nil)
)

// NewApp makes the way to the app at rawURL: http, localhost, 127.0.0.1 or [::1].
// It contacts nobody yet. The error says what is wrong with the url, without it.
func NewApp(rawURL string, h *canvas.Handle, opts Options) (*App, error) {
	at, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	a := &App{opts: opts.withDefaults(), at: at, handle: h}
	if a.opts.Jar == nil {
		a.opts.Jar = newJar()
	}
	a.ctx, a.cancel = context.WithCancel(h.Context())
	a.transport = newTransport(at.dial, a.opts.Dial)
	a.upstream = &upstream{transport: a.transport, jar: a.opts.Jar, refused: a.unreachable}
	a.reads = &http.Client{Transport: a.upstream, CheckRedirect: a.insideOrigin}
	a.bridge, err = bridge.NewServer(bridge.Options{
		Origin: at.origin.String(), RoundTripper: a.upstream, Send: func(to canvas.View, payload ahp.Value) error { return h.PostEncoded(h.Context(), to, payload) }, Logger: a.opts.Logger,
		Requests: a.opts.Requests, Uploads: a.opts.Uploads, HeadTimeout: a.opts.HeadTimeout, Gather: a.opts.Gather,
	})
	if err != nil {
		a.cancel()
		return nil, err
	}
	if a.opts.Probe > 0 {
		a.running.Go(a.watch)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop = context.AfterFunc(h.Context(), a.Close)
	return a, nil
}

// URL is what CanvasState.url is to be: the address of the app's first page on
// the channel, with path and query kept, or the app's own where Options.Direct
// says so.
func (a *App) URL() string {
	if a.opts.Direct {
		return a.at.raw
	}
	return a.handle.ContentURL("/") + a.at.start.String()[1:]
}

// Message hears a View: its requests go to the app. What is not http/1 is dropped.
func (a *App) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	a.bridge.Message(ctx, from, payload)
}

// ViewGone ends the requests of a View.
func (a *App) ViewGone(from canvas.View) { a.bridge.ViewGone(from) }

// Close ends the app's requests and waits until nothing of it runs. It may be
// called again, and concurrently.
func (a *App) Close() {
	a.ending.Do(func() {
		a.mu.Lock()
		a.ended = true
		a.mu.Unlock()
		a.stop()
		a.cancel()
		a.bridge.Close()
		a.running.Wait()
		a.transport.CloseIdleConnections()
	})
}

// watch probes until the app refuses.
func (a *App) watch() {
	every(a.ctx, a.opts.Probe, func() bool {
		up, known := a.at.probe(a.ctx, a.opts.Dial, a.opts.Probe)
		if known && !up {
			a.unreachable(errRefused)
			return false
		}
		return true
	})
}

// unreachable tells of the app's absence, once.
func (a *App) unreachable(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost || a.ended || a.opts.Unreachable == nil {
		return
	}
	a.lost = true
	a.running.Go(func() { a.opts.Unreachable(err) })
}
