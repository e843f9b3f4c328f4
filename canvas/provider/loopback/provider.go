package loopback

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Registration is notified whether the app is reachable; canvas.Registration is one.
type Registration interface {
	// SetReachable reports whether the app accepts connections.
	SetReachable(reachable bool)
}

// Provider provides one canvas, a web app of this machine. Make it with [New], pass its
// registration to Watch, and end it with Close.
type Provider struct {
	name string
	url  string
	at   address
	opts Options

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	report sync.Mutex // held while the registration is notified, for the order

	mu   sync.Mutex
	reg  Registration // nil until Watch
	gone bool         // the registration was notified that the app is unreachable
	open map[*canvas.Handle]*App
	jars map[jarKey]*Jars // of instances that are not closed
}

// jarKey identifies an instance. Its cookies stay while the app is unreachable.
type jarKey struct{ session, instance string }

// maxJars limits the jars: instances that are closed while the app is unreachable leave
// theirs behind.
const maxJars = 1024

// New returns the provider of a canvas for the app at rawURL (see [NewApp]), without
// contacting it. The canvas and its extension have the id name. Options.Unreachable and
// Options.Jars are ignored.
func New(name, rawURL string, opts Options) (*Provider, error) {
	at, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("loopback: the name of the canvas is empty")
	}
	p := &Provider{name: name, url: rawURL, at: at, opts: opts.withDefaults(), open: map[*canvas.Handle]*App{}, jars: map[jarKey]*Jars{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// ID returns the id of the canvas and of the extension.
func (p *Provider) ID() string { return p.name }

// Extension identifies the app in a host's registry.
func (p *Provider) Extension() canvas.Extension { return canvas.Extension{ID: p.name} }

// Declarations returns the one canvas that the provider declares, without actions.
func (p *Provider) Declarations() []canvas.Declaration {
	return []canvas.Declaration{{CanvasID: p.name, DisplayName: p.name, Description: "A web app that runs on the host's machine."}}
}

// Watch starts to probe the app, and notifies reg when it becomes unreachable and
// reachable. Call it once, after the provider was registered.
func (p *Provider) Watch(reg Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reg != nil || p.ctx.Err() != nil {
		return
	}
	p.reg = reg
	interval := p.opts.Probe
	if interval < 0 {
		interval = 2 * time.Second
	}
	p.running.Go(func() {
		every(p.ctx, interval, func() bool {
			p.probeApp(interval)
			return true
		})
	})
}

// Close ends the probe and the open apps, and waits for them.
func (p *Provider) Close() {
	p.cancel()
	p.mu.Lock()
	var apps []*App
	for _, a := range p.open {
		apps = append(apps, a)
	}
	p.mu.Unlock()
	for _, a := range apps {
		a.Close()
	}
	p.running.Wait()
}

// Open opens an instance. It fails if the app refuses connections.
func (p *Provider) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	if err := ctx.Err(); err != nil {
		return canvas.Opened{}, err
	}
	if p.ctx.Err() != nil {
		return canvas.Opened{}, errUnavailable // it was closed
	}
	if i, ok := req.Current.(*instance); ok {
		return p.opened(i), nil // the canvas takes no input
	}
	if up, known := p.at.probe(ctx, p.opts.Dial, probeOpen); known && !up {
		p.lost()
		return canvas.Opened{}, errUnavailable
	}
	key := jarKey{req.Session, req.InstanceID}
	opts := p.opts
	opts.Probe, opts.Unreachable = -1, func(error) { p.lost() }
	opts.Jars = p.jarsOf(key)
	app, err := NewApp(p.url, h, opts)
	if err != nil {
		return canvas.Opened{}, err
	}
	p.add(h, app)
	return p.opened(&instance{App: app, provider: p, key: key}), nil
}

// probeOpen is how long an open waits for a connection. After that the app hangs, but
// might still answer.
const probeOpen = time.Second

func (p *Provider) opened(i *instance) canvas.Opened {
	return canvas.Opened{Instance: i, URL: i.URL(), HTTP: true, Sockets: true, Links: true}
}

// add records an open app until its handle ends.
func (p *Provider) add(h *canvas.Handle, app *App) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[h] = app
	context.AfterFunc(h.Context(), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, h)
	})
}

// jarsOf returns an instance's jars, which it also had before the app was unreachable.
func (p *Provider) jarsOf(key jarKey) *Jars {
	p.mu.Lock()
	defer p.mu.Unlock()
	if jars := p.jars[key]; jars != nil {
		return jars
	}
	if len(p.jars) >= maxJars {
		clear(p.jars) // people have to log in again; this takes a thousand closed canvases
	}
	jars := NewJars(p.opts.SharedCookies)
	p.jars[key] = jars
	return jars
}

// forget removes the jars of a closed instance.
func (p *Provider) forget(key jarKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jars, key)
}

// probeApp probes the app if a canvas is open or the app is unreachable.
func (p *Provider) probeApp(within time.Duration) {
	p.mu.Lock()
	idle := !p.gone && len(p.open) == 0
	p.mu.Unlock()
	if idle {
		return
	}
	switch up, known := p.at.probe(p.ctx, p.opts.Dial, within); {
	case !known:
	case up:
		p.notify(false)
	default:
		p.notify(true)
	}
}

// lost handles a refused connection.
func (p *Provider) lost() { p.notify(true) }

// notify notifies the registration of a change.
func (p *Provider) notify(gone bool) {
	p.report.Lock()
	defer p.report.Unlock()
	p.mu.Lock()
	reg := p.reg
	same := p.gone == gone
	if reg != nil {
		p.gone = gone
	}
	p.mu.Unlock()
	switch {
	case same || reg == nil:
	case gone:
		reg.SetReachable(false)
	default:
		reg.SetReachable(true)
	}
}

// instance is an App as a canvas.Instance.
type instance struct {
	*App
	provider *Provider
	key      jarKey
}

// Invoke fails: the canvas declares no actions.
func (i *instance) Invoke(_ context.Context, action string, _ ahp.Value) (ahp.Value, error) {
	return nil, canvas.Errorf(canvas.CodeNoHandler, "nothing handles action %q", action)
}

// Close ends the app's requests and forgets its cookies.
func (i *instance) Close(context.Context) error {
	i.App.Close()
	i.provider.forget(i.key)
	return nil
}
