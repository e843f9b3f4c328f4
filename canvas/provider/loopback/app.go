package loopback

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
)

// Options configures an App. The zero value works; a zero limit has the default in its
// comment.
type Options struct {
	// Direct shows the app's url in the page's frame, instead of carrying the app over
	// the channel.
	Direct bool
	// Unreachable is called once, when the app refuses a connection. The error contains
	// the app's address, so do not show it to people. Close waits for the call, so it
	// must not call Close.
	Unreachable func(error)
	// Probe is the interval at which a connection is tried while the canvas is open;
	// default 2 s. A negative one switches probes off.
	Probe time.Duration
	// Dial connects to the app; the default refuses addresses of other machines.
	Dial DialFunc
	// Jars store the app's cookies; the default has one jar for all browsers. Passing the
	// jars of an earlier App keeps people logged in.
	Jars *Jars
	// SharedCookies makes a Provider give all browsers one jar, for apps whose people share a
	// login. An App looks at Jars only.
	SharedCookies bool

	// ReadBytes is the limit of one Read; default 16 MiB.
	ReadBytes int64
	// Requests and Uploads are limits of http/1 per View; see bridge.Options.
	Requests, Uploads int
	// HeadTimeout and Gather are times of http/1; see bridge.Options.
	HeadTimeout, Gather time.Duration

	// Trace records each exchange with the app; nil records nothing. The app receives the
	// span as traceparent.
	Trace *trace.Tracer
	// Logger receives no urls; nil discards.
	Logger *slog.Logger
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

// App connects one instance to one app, with its own transport. It is a
// canvas.Reader, a canvas.Messenger and a canvas.WebApp. Make it with [NewApp]; it ends with its handle,
// or by Close.
type App struct {
	opts      Options
	at        address
	handle    *canvas.Handle
	transport *http.Transport
	upstream  *upstream
	bridge    *bridge.Server
	sockets   *bridge.Sockets
	proxy     http.Handler // of ServeApp
	reads     *http.Client

	ctx     context.Context // done when the app ends
	cancel  context.CancelFunc
	running sync.WaitGroup // the probe, and the call of Unreachable
	ending  sync.Once

	mu    sync.Mutex
	stop  func() bool // stops waiting for the handle's end
	ended bool
	lost  bool // Unreachable was called
}

var (
	_ canvas.Reader    = (*App)(nil)
	_ canvas.Messenger = (*App)(nil)
	_ canvas.WebApp    = (*App)(nil)
)

// NewApp returns an App for the app at rawURL, without contacting it. The url has the
// scheme http and the host localhost, 127.0.0.1 or [::1]. The error does not contain the
// url, which can hold a secret.
func NewApp(rawURL string, h *canvas.Handle, opts Options) (*App, error) {
	at, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	a := &App{opts: opts.withDefaults(), at: at, handle: h}
	if a.opts.Jars == nil {
		a.opts.Jars = NewJars(true)
	}
	a.ctx, a.cancel = context.WithCancel(h.Context())
	a.transport = newTransport(at.dial, a.opts.Dial)
	a.upstream = &upstream{transport: a.opts.Trace.Transport(a.transport), jars: a.opts.Jars, refused: a.unreachable}
	a.reads = &http.Client{Transport: a.upstream, CheckRedirect: a.insideOrigin}
	send := func(to canvas.View, payload ahp.Value) error { return h.PostEncoded(h.Context(), to, payload) }
	a.bridge, err = bridge.NewServer(bridge.Options{
		Origin: at.origin.String(), RoundTripper: a.upstream, Send: send, Logger: a.opts.Logger,
		Context: a.opts.Jars.context, Requests: a.opts.Requests, Uploads: a.opts.Uploads, HeadTimeout: a.opts.HeadTimeout, Gather: a.opts.Gather,
	})
	if err == nil {
		a.sockets, err = bridge.NewSockets(bridge.SocketOptions{
			Origin: at.origin.String(), Dial: a.dial, Jar: a.opts.Jars.jarFor, Send: send, Logger: a.opts.Logger, AcceptTimeout: a.opts.HeadTimeout,
		})
	}
	if err == nil {
		a.proxy, err = bridge.Proxy(bridge.ProxyOptions{Origin: at.origin.String(), RoundTripper: a.upstream, HeadTimeout: a.opts.HeadTimeout, Fail: failPlain})
	}
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

// URL returns the value for CanvasState.url: the address of the app's first page on the
// channel, with path and query, or with Options.Direct the app's own.
func (a *App) URL() string {
	if a.opts.Direct {
		return a.at.raw
	}
	return a.handle.ContentURL("/") + a.at.start.String()[1:]
}

// Message passes a View's http/1 requests and ws/1 WebSockets to the app. It drops other
// messages.
func (a *App) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if !a.opts.Jars.introduce(from, payload) && !a.bridge.Message(ctx, from, payload) {
		a.sockets.Message(ctx, from, payload)
	}
}

// dial connects a WebSocket to the app, whatever its address says.
func (a *App) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	conn, err := a.opts.Dial(ctx, network, a.at.dial)
	if err != nil && refused(ctx, err) {
		a.unreachable(err)
	}
	return conn, err
}

// portHeader tells the gateway the port of the app's server.
const portHeader = "X-Ahp-Port"

// ServeApp passes a request to the app, with the cookies of its browser's jar.
func (a *App) ServeApp(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set(portHeader, cmp.Or(a.at.origin.Port(), "80"))
	}
	a.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// failPlain answers a request that the app did not. The caller can replace the
// text by a page for people.
func failPlain(w http.ResponseWriter, _ *http.Request, err *bridge.Error) {
	http.Error(w, err.Message, err.Status)
}

// ViewGone ends the requests and WebSockets of a View.
func (a *App) ViewGone(from canvas.View) {
	a.opts.Jars.forget(from)
	a.bridge.ViewGone(from)
	a.sockets.ViewGone(from)
}

// Close ends the app's requests and waits for them, the probe and the call of
// Unreachable. It may be called repeatedly and concurrently.
func (a *App) Close() {
	a.ending.Do(func() {
		a.mu.Lock()
		a.ended = true
		a.mu.Unlock()
		a.stop()
		a.cancel()
		a.bridge.Close()
		a.sockets.Close()
		a.running.Wait()
		a.transport.CloseIdleConnections()
	})
}

// watch probes until the app refuses a connection.
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

// unreachable calls Options.Unreachable, once.
func (a *App) unreachable(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost || a.ended || a.opts.Unreachable == nil {
		return
	}
	a.lost = true
	a.running.Go(func() { a.opts.Unreachable(err) })
}
