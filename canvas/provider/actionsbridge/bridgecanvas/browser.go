package bridgecanvas

import (
	"cmp"
	"context"
	"embed"
	"log/slog"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// ExtensionID is the id of the extension whose canvases are pages in browsers.
const ExtensionID = "actions-bridge"

// The canvases of the extension.
const (
	BrowserID = "browser"      // all pages, and who may use them
	PageID    = "browser-page" // one page
)

//go:embed browser
var browserFiles embed.FS

var browserPage = sample.Files(sample.MustPage(mustSub(browserFiles, "browser")))

// Options configures a Provider. Bridge is required.
type Options struct {
	// Bridge has the pages. The caller closes it, after the Provider.
	Bridge *actionsbridge.Bridge
	// Address is where pages connect, without a token, as in
	// "ws://127.0.0.1:17345/extension"; the card shows it. "" shows none.
	Address string
	// Logger receives failures. Nil discards them.
	Logger *slog.Logger
}

// Registration is notified when a canvas that could not be opened can be opened;
// [canvas.Registration] is one.
type Registration interface {
	// SetReachable reports that stale canvases can be opened again.
	SetReachable(reachable bool)
}

// Limits of the provider.
const (
	maxStale      = 1024 // bindings of stale canvases
	maxBrowserLog = 100  // calls that cards show
	updateEvery   = 500 * time.Millisecond
	runtimeEvents = 20 // actions.runtime a second
	runtimeBurst  = 100
)

// Provider opens the canvases browser and browser-page. Make it with [New].
type Provider struct {
	opts   Options
	bridge *actionsbridge.Bridge
	logger *slog.Logger
	off    func()

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	kick   chan struct{}

	mu       sync.Mutex
	cards    map[*browserCard]struct{}
	stale    map[instanceKey]*staleBinding
	order    []instanceKey // of stale, the oldest first
	arrived  uint64        // Connected of the runtime that connected last
	log      []browserCall // the newest last
	reg      Registration
	outputs  browserOutputs
	tokens   float64 // for actions.runtime
	filled   time.Time
	reported map[string]string // the state of each runtime that actions.runtime has reported
}

// instanceKey names an instance across its handles.
type instanceKey struct{ session, instance string }

// binding is what a browser-page is bound to; it is saved.
type binding struct {
	RuntimeID  string                  `json:"runtime_id"`
	RuntimeKey string                  `json:"runtime_key,omitzero"`
	Principal  actionsbridge.Principal `json:"principal"`
}

func bindingOf(r actionsbridge.Runtime) binding {
	return binding{r.ID, r.Key, r.Principal}
}

// staleBinding is a browser-page without its runtime.
type staleBinding struct {
	binding
	lost   uint64         // the runtime that had connected last when it was lost; a twin is older
	handle *canvas.Handle // opens the canvas again; nil if it was never open in this run
}

// wants reports whether a runtime is the one that was lost: the same id, or one with its
// key and principal that arrived later.
func (s *staleBinding) wants(r actionsbridge.Runtime) bool {
	if r.Principal != s.Principal || !usableState(r.State) {
		return false
	}
	return r.ID == s.RuntimeID || s.RuntimeKey != "" && r.Key == s.RuntimeKey && r.Connected > s.lost
}

// usableState reports whether a card of a runtime in this state is ready. An invalid
// manifest is an error of each call.
func usableState(s actionsbridge.State) bool {
	return s == actionsbridge.Ready || s == actionsbridge.Invalid || s == actionsbridge.Stale
}

// New returns a provider that works until Close.
func New(o Options) *Provider {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{
		opts: o, bridge: o.Bridge, logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		ctx: ctx, cancel: cancel, kick: make(chan struct{}, 1),
		cards: map[*browserCard]struct{}{}, stale: map[instanceKey]*staleBinding{}, reported: map[string]string{},
		tokens: runtimeBurst, filled: time.Now(),
	}
	p.off = o.Bridge.Watch(p.watch)
	for _, r := range o.Bridge.Runtimes() {
		p.arrived = max(p.arrived, r.Connected)
	}
	p.done.Go(p.run)
	return p
}

// Watch sets who is notified when a canvas that could not be opened can be opened.
func (p *Provider) Watch(reg Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reg = reg
}

// Close ends the provider's goroutines and waits for them. Open canvases no longer learn of
// changes.
func (p *Provider) Close() error {
	p.off()
	p.cancel()
	p.done.Wait()
	return nil
}

// Extension implements canvas.Declarer.
func (p *Provider) Extension() canvas.Extension {
	return canvas.Extension{ID: ExtensionID, Name: "Browser pages"}
}

// Declarations implements canvas.Declarer.
func (p *Provider) Declarations() []canvas.Declaration { return BrowserDeclarations() }

// BrowserDeclarations returns what a Provider declares.
func BrowserDeclarations() []canvas.Declaration {
	raw, err := browserFiles.ReadFile("browser/declarations.json")
	if err != nil {
		panic(err)
	}
	var set []canvas.Declaration
	if err := ahp.Unmarshal(raw, &set); err != nil {
		panic(err)
	}
	return set
}

// Open implements canvas.Provider.
func (p *Provider) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	if ctx.Err() != nil {
		return canvas.Opened{}, context.Cause(ctx)
	}
	if req.CanvasID == PageID {
		return p.openPage(ctx, req, h)
	}
	c, isOpen := req.Current.(*browserCard)
	if !isOpen {
		c = p.newCard(h)
	}
	return canvas.Opened{Instance: c, URL: h.ContentURL("/index.html"), Title: "Browser pages", Status: p.summary()}, nil
}

// openPage opens a browser-page: by its selectors, or if it was bound before, by that.
func (p *Provider) openPage(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	key := instanceKey{req.Session, req.InstanceID}
	r, err := p.find(req, key)
	if err != nil {
		return canvas.Opened{}, err
	}
	c, isOpen := req.Current.(*browserCard)
	if !isOpen {
		c = p.newCard(h)
	}
	c.bind(bindingOf(r))
	if err := h.Save(ctx, ahp.MustMarshal(bindingOf(r))); err != nil {
		p.forget(c)
		return canvas.Opened{}, err
	}
	if now, ok := p.bridge.Runtime(r.ID); !ok || !usableState(now.State) || now.Connected != r.Connected {
		p.lose(c, r) // it went while it was opened
		return canvas.Opened{}, notThere(bindingOf(r))
	}
	p.mu.Lock()
	p.unstale(key)
	p.mu.Unlock()
	return canvas.Opened{Instance: c, URL: h.ContentURL("/index.html"), Title: cardTitle(r), Status: cardStatus(r)}, nil
}

// find returns the runtime that a browser-page is opened for.
func (p *Provider) find(req canvas.OpenRequest, key instanceKey) (actionsbridge.Runtime, error) {
	if req.Saved != nil && req.Current == nil {
		return p.findBound(req.Saved, key)
	}
	var s actionsbridge.Selector
	if req.Input != nil {
		if err := ahp.Unmarshal(req.Input, &s); err != nil {
			return actionsbridge.Runtime{}, canvas.Errorf(canvas.CodeInputInvalid, "the input cannot be read: %v", err)
		}
	}
	if c, isOpen := req.Current.(*browserCard); isOpen && s.IsZero() {
		s.RuntimeID = c.bound().RuntimeID // nothing new is selected
	}
	r, err := p.bridge.Select(s)
	if err != nil {
		return r, canvasError(err)
	}
	return r, nil
}

// findBound returns the runtime of a saved binding.
func (p *Provider) findBound(saved []byte, key instanceKey) (actionsbridge.Runtime, error) {
	var b binding
	if err := ahp.Unmarshal(saved, &b); err != nil {
		return actionsbridge.Runtime{}, canvas.Errorf(actionsbridge.CodeRuntimeNotFound, "the page of this canvas is not known any more; open it again")
	}
	p.mu.Lock()
	s := p.stale[key]
	if s == nil { // after a restart of the host
		s = &staleBinding{binding: b}
		p.addStale(key, s)
	}
	p.mu.Unlock()
	for _, r := range p.bridge.Runtimes() {
		if r.ID == s.RuntimeID && s.wants(r) {
			return r, nil
		}
	}
	for _, r := range p.bridge.Runtimes() {
		if s.wants(r) {
			return r, nil
		}
	}
	return actionsbridge.Runtime{}, notThere(b)
}

// notThere is the error for a binding without its runtime.
func notThere(b binding) error {
	e := actionsbridge.NewError(actionsbridge.CodeRuntimeNotFound, map[string]any{"intent": map[string]string{"runtime_id": b.RuntimeID}, "runtimes": []int{}},
		"the page of this canvas is not connected; the canvas resumes when the page returns")
	return canvasError(e)
}

// addStale adds a stale binding; the oldest goes if there are too many: nothing tells a
// provider that a stale canvas was closed. The caller holds p.mu.
func (p *Provider) addStale(key instanceKey, s *staleBinding) {
	p.unstale(key)
	p.stale[key] = s
	if p.order = append(p.order, key); len(p.order) > maxStale {
		delete(p.stale, p.order[0])
		p.order = p.order[1:]
	}
}

// unstale removes a stale binding. The caller holds p.mu.
func (p *Provider) unstale(key instanceKey) {
	if p.stale[key] == nil {
		return
	}
	delete(p.stale, key)
	for n, k := range p.order {
		if k == key {
			p.order = append(p.order[:n:n], p.order[n+1:]...)
			break
		}
	}
}
