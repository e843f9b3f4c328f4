package loopback

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Registration receives whether the app can be reached; canvas.Registration is one.
type Registration interface {
	SetReachable(reachable bool)
}

// Provider is a web app of this machine as one canvas. Make it with [New], tell
// it its registration with Watch, end it with Close.
type Provider struct {
	name string
	url  string
	at   address
	opts Options

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	report sync.Mutex // held while the registration is told: Gone and Back in order

	mu   sync.Mutex
	reg  Registration // nil until Watch
	gone bool
	open map[*canvas.Handle]*App
	jars map[jarKey]http.CookieJar // of instances that were not closed
}

// jarKey is an instance: its cookies outlive the app's absence.
type jarKey struct{ session, instance string }

// maxJars bounds the jars that are kept: instances that were closed while the app
// was away leave theirs behind.
const maxJars = 1024

// New makes a provider of the canvas name for the app at rawURL (see [NewApp]).
// Options.Unreachable and Jar are not used. It contacts nobody yet.
func New(name, rawURL string, opts Options) (*Provider, error) {
	at, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("loopback: the canvas has no name")
	}
	p := &Provider{name: name, url: rawURL, at: at, opts: opts.withDefaults(), open: map[*canvas.Handle]*App{}, jars: map[jarKey]http.CookieJar{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// ID is the canvas's id; it serves as the extension's too.
func (p *Provider) ID() string { return p.name }

// Extension identifies the app in a host's registry.
func (p *Provider) Extension() canvas.Extension { return canvas.Extension{ID: p.name} }

// Declarations returns the one canvas that the provider declares, without actions.
func (p *Provider) Declarations() []canvas.Declaration {
	return []canvas.Declaration{{CanvasID: p.name, DisplayName: p.name, Description: "A web app that runs on the host's machine."}}
}

// Watch begins to look after the app, and tells reg when it is gone and when it
// is back. It is called once, after the provider was registered.
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
			p.look(interval)
			return true
		})
	})
}

// Close ends the watch and the apps that are open.
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

// Open makes an instance. It fails where the app does not accept connections, so
// that nobody looks at a page that cannot be there.
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
	opts.Jar = p.jar(key)
	app, err := NewApp(p.url, h, opts)
	if err != nil {
		return canvas.Opened{}, err
	}
	p.add(h, app)
	return p.opened(&instance{App: app, provider: p, key: key}), nil
}

// probeOpen is how long an open waits for a connection before it takes an app
// for one that hangs, which may yet answer.
const probeOpen = time.Second

func (p *Provider) opened(i *instance) canvas.Opened {
	return canvas.Opened{Instance: i, URL: i.URL(), HTTP: true, Links: true}
}

// add counts an app in until its handle is dead.
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

// jar is an instance's, as it was before the app was away.
func (p *Provider) jar(key jarKey) http.CookieJar {
	p.mu.Lock()
	defer p.mu.Unlock()
	if jar := p.jars[key]; jar != nil {
		return jar
	}
	if len(p.jars) >= maxJars {
		clear(p.jars) // people log in again; it takes a thousand closed canvases
	}
	jar := newJar()
	p.jars[key] = jar
	return jar
}

// forget takes what is kept of an instance that was closed.
func (p *Provider) forget(key jarKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jars, key)
}

// look probes the app while somebody looks at it, or waits for it.
func (p *Provider) look(within time.Duration) {
	p.mu.Lock()
	idle := !p.gone && len(p.open) == 0
	p.mu.Unlock()
	if idle {
		return
	}
	switch up, known := p.at.probe(p.ctx, p.opts.Dial, within); {
	case !known:
	case up:
		p.tell(false)
	default:
		p.tell(true)
	}
}

// lost says that the app refused a connection.
func (p *Provider) lost() { p.tell(true) }

// tell brings the registration up to date.
func (p *Provider) tell(gone bool) {
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

// instance is an App as the host wants one.
type instance struct {
	*App
	provider *Provider
	key      jarKey
}

// Invoke has nothing to run: the canvas declares no actions.
func (i *instance) Invoke(_ context.Context, action string, _ ahp.Value) (ahp.Value, error) {
	return nil, canvas.Errorf(canvas.CodeNoHandler, "nothing handles action %q", action)
}

// Close ends the app's requests and forgets its cookies.
func (i *instance) Close(context.Context) error {
	i.App.Close()
	i.provider.forget(i.key)
	return nil
}
