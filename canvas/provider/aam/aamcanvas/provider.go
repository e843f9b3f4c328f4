package aamcanvas

import (
	"context"
	"embed"
	"log/slog"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// ExtensionID is the id of the extension.
const ExtensionID = "aam"

// The canvases of the extension.
const (
	SiteID   = "aam-site"   // a web site that the session's agent uses
	AgentsID = "aam-agents" // agents of other people that use this host
)

//go:embed declarations.json page
var files embed.FS

// PIN confirms that a person decides; an aam.PIN is one.
type PIN interface {
	// Check returns nil for the right PIN. The codes of its errors reach the page.
	Check(pin string) error
	// Set reports whether there is a PIN.
	Set() bool
}

// Options configures a Provider. What is absent is not offered.
type Options struct {
	// Sites lets agents use web sites, for the canvas aam-site.
	Sites *SiteOptions
	// Agents is the host as a site, for the canvas aam-agents. The caller closes it, after
	// the Provider.
	Agents *site.Site
	// PIN confirms what costs money or lets others in. Nil refuses it.
	PIN PIN
	// Logger receives failures. Nil discards them.
	Logger *slog.Logger
}

// Provider opens the canvases of AAM. Make it with [New].
type Provider struct {
	opts   Options
	logger *slog.Logger
	agents agentsHub
	sites  sitesHub
}

// New returns a provider that works until Close.
func New(o Options) *Provider {
	p := &Provider{opts: o, logger: o.Logger}
	if p.logger == nil {
		p.logger = slog.New(slog.DiscardHandler)
	}
	if o.Agents != nil {
		p.agents.start(o)
	}
	if o.Sites != nil {
		p.sites.start(o)
		p.sites.logger = p.logger
	}
	return p
}

// Close ends the provider's goroutines and waits for them. Open canvases no longer learn of
// changes.
func (p *Provider) Close() error {
	if p.opts.Agents != nil {
		p.agents.stop()
	}
	if p.opts.Sites != nil {
		p.sites.stop()
	}
	return nil
}

// Extension implements canvas.Declarer.
func (p *Provider) Extension() canvas.Extension {
	return canvas.Extension{ID: ExtensionID, Name: "Agent actions"}
}

// Declarations implements canvas.Declarer: the canvases that the options offer.
func (p *Provider) Declarations() []canvas.Declaration {
	return slices.DeleteFunc(Declarations(), func(d canvas.Declaration) bool {
		return d.CanvasID == AgentsID && p.opts.Agents == nil || d.CanvasID == SiteID && p.opts.Sites == nil
	})
}

// Declarations returns what a Provider with all options declares.
func Declarations() []canvas.Declaration {
	raw, err := files.ReadFile("declarations.json")
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
	if req.CanvasID == SiteID {
		return p.sites.open(ctx, req, h)
	}
	return p.agents.open(req, h)
}
