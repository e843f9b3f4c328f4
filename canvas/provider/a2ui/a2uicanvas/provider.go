package a2uicanvas

import (
	"context"
	"crypto/rand"
	"embed"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// The ids of the extension and of its canvas. The canvas of a remote agent is
// CanvasID + "-" + its name.
const (
	ExtensionID = "a2ui"
	CanvasID    = "a2ui"
)

//go:embed declarations.json page
var files embed.FS

// page has the files of the page, and the shared ones.
var page = sample.Files(sample.MustPage(files))

// Options configures a Provider. The zero value is valid.
type Options struct {
	// Agents are remote agents. Each has a canvas. Their names are unique, and
	// [ValidName].
	Agents []a2ui.Agent
	// Catalogs are further catalogs that surfaces can use beside the basic one.
	Catalogs []Catalog
	// Media fetches pictures of its Options.Origins for the page. Nil shows none from
	// elsewhere. The caller closes it.
	Media *outbound.Client
	// Limits bound the surfaces of an instance.
	Limits a2ui.Limits
	// Logger receives failures, without texts and data. Nil discards them.
	Logger *slog.Logger
	// NewID returns ids that are unique and hard to guess. Nil is 128 random bits.
	NewID func() string
}

// Catalog is a catalog of the program's own, with what draws it.
type Catalog struct {
	// Schema says which components and functions the catalog has. Make it with
	// [a2ui.Compile]. Its id is the catalogId of createSurface.
	Schema *a2ui.Catalog
	// Module is an ES module, whose default export is a function from the page's kit to
	// {id, components, functions?}. kit.component(name, properties, draw, styles?) makes a
	// component, kit.values has the schemas of properties, kit.html and kit.css are Lit's,
	// and kit.components and kit.functions are those of the basic catalog. The module runs
	// in the canvas's own origin and loads nothing from elsewhere.
	Module []byte
}

// Provider opens the canvases. Make it with [New].
type Provider struct {
	opts   Options
	agents map[string]a2ui.Agent // by canvas id
	logger *slog.Logger

	ctx  context.Context
	stop context.CancelFunc
	done sync.WaitGroup

	mu        sync.Mutex
	unreached map[string]bool // names of agents
	panels    map[*panel]bool // open canvases of remote agents
}

// New returns a provider that works until Close.
func New(o Options) *Provider {
	p := &Provider{opts: o, agents: map[string]a2ui.Agent{}, logger: o.Logger, unreached: map[string]bool{}, panels: map[*panel]bool{}}
	if p.logger == nil {
		p.logger = slog.New(slog.DiscardHandler)
	}
	if p.opts.NewID == nil {
		p.opts.NewID = rand.Text
	}
	for _, a := range o.Agents {
		p.agents[CanvasID+"-"+a.Name()] = a
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// catalogs returns all catalogs, the basic one first. To compile that one takes
// milliseconds, so it waits for the first canvas that needs it.
func (p *Provider) catalogs() []*a2ui.Catalog {
	all := []*a2ui.Catalog{a2ui.Basic()}
	for _, c := range p.opts.Catalogs {
		all = append(all, c.Schema)
	}
	return all
}

// Close cancels the turns of remote agents and waits for them.
func (p *Provider) Close() error {
	p.stop()
	p.done.Wait()
	return nil
}

// SetReached tells the canvas of a remote agent whether the agent has been reached. While
// it has not, the canvas says so; what people write is tried nevertheless. An agent counts
// as reached until SetReached says otherwise.
func (p *Provider) SetReached(agent string, reached bool) {
	p.mu.Lock()
	if p.unreached[agent] == !reached {
		p.mu.Unlock()
		return
	}
	p.unreached[agent] = !reached
	panels := slices.Collect(maps.Keys(p.panels))
	p.mu.Unlock()
	for _, i := range panels {
		if i.name() == agent {
			i.reachedChanged()
		}
	}
}

// reached reports whether a remote agent has been reached.
func (p *Provider) reached(agent string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.unreached[agent]
}

// track keeps an open canvas until it ends, if it is a remote agent's.
func (p *Provider) track(i *panel, open bool) {
	if i.agent == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if open {
		p.panels[i] = true
	} else {
		delete(p.panels, i)
	}
}

// ValidName reports whether a name can be a remote agent's: 1 to 32 letters, digits and
// hyphens, in lower case, not beginning with a hyphen.
func ValidName(name string) bool {
	for n, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || n == 0) {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 32
}

// Extension implements canvas.Declarer.
func (p *Provider) Extension() canvas.Extension {
	return canvas.Extension{ID: ExtensionID, Name: "A2UI"}
}

// Declarations implements canvas.Declarer.
func (p *Provider) Declarations() []canvas.Declaration {
	raw, err := files.ReadFile("declarations.json")
	if err != nil {
		panic(err)
	}
	var set []canvas.Declaration
	if err := ahp.Unmarshal(raw, &set); err != nil {
		panic(err)
	}
	own, remote := set[0], set[1]
	all := []canvas.Declaration{own}
	for _, a := range p.opts.Agents {
		d := remote
		d.CanvasID = CanvasID + "-" + a.Name()
		d.DisplayName = a.Name()
		all = append(all, d)
	}
	return all
}

// Open implements canvas.Provider.
func (p *Provider) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	if ctx.Err() != nil {
		return canvas.Opened{}, context.Cause(ctx)
	}
	i, fresh := p.panel(req, h)
	if fresh {
		if err := i.restore(req.Saved); err != nil {
			return canvas.Opened{}, err
		}
	}
	return i.open(ctx, req)
}

// panel returns the open instance, or a new one.
func (p *Provider) panel(req canvas.OpenRequest, h *canvas.Handle) (i *panel, fresh bool) {
	if i, ok := req.Current.(*panel); ok {
		return i, false
	}
	i = newPanel(p, h, p.agents[req.CanvasID])
	p.track(i, true)
	// The handle also ends if the open fails, without a call of Close.
	context.AfterFunc(h.Context(), i.end)
	return i, true
}

// Licenses returns the licenses of the packages in the page's renderer.
func Licenses() []byte {
	raw, err := fs.ReadFile(files, "page/licences.txt")
	if err != nil {
		panic(err)
	}
	return raw
}
