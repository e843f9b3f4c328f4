package aapcanvas

import (
	"context"
	"embed"
	"log/slog"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// ExtensionID is the id of the extension.
const ExtensionID = "aap"

// The canvases of the extension.
const (
	PageID  = "aap-page"  // one page
	PagesID = "aap-pages" // an agent's pages and history
)

//go:embed declarations.json page
var files embed.FS

// Options configures a Provider. Store is required.
type Options struct {
	// Store has the pages and records. The caller closes it, after the Provider.
	Store *aap.Store
	// Open opens a canvas, as host.Canvases.Open does. Without it, pages are opened by
	// agents alone.
	Open func(context.Context, canvas.OpenArgs) (canvas.OpenCanvas, error)
	// Raise adds an event that belongs to no canvas, as host.Canvases.Raise does.
	Raise func(session string, event ahp.Value) error
	// Session is where pages are opened automatically, and where records of pages that
	// are not open raise their event: host.DefaultSession.
	Session string
	// Changed opens pages that are new or change after the start.
	Changed bool
	// Notify is called for each record, in order for each agent. It must not block. Nil
	// notifies no agent.
	Notify func(a aap.Agent, r aap.Record, line string)
	// Logger receives failures. Nil discards them.
	Logger *slog.Logger
}

// Provider opens the pages of agents as canvases. Make it with [New].
type Provider struct {
	opts   Options
	store  *aap.Store
	logger *slog.Logger

	mu    sync.Mutex
	pages map[*page]struct{}
	lists map[*list]struct{}
	own   map[string]bool  // instance ids that the provider opened automatically
	shut  map[pageKey]bool // pages that were closed since the start
	fresh map[pageKey]bool // pages that changed and are not open
	work  work             // what the goroutine does next

	kick chan struct{}
	stop context.CancelFunc
	ctx  context.Context
	done sync.WaitGroup
	off  func() // ends the watch
}

// pageKey is a page of an agent, by its id.
type pageKey struct{ agent, file string }

// New returns a provider that works until Close.
func New(o Options) *Provider {
	p := &Provider{
		opts: o, store: o.Store, logger: o.Logger,
		pages: map[*page]struct{}{}, lists: map[*list]struct{}{},
		own: map[string]bool{}, shut: map[pageKey]bool{}, fresh: map[pageKey]bool{},
		kick: make(chan struct{}, 1),
	}
	if p.logger == nil {
		p.logger = slog.New(slog.DiscardHandler)
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.done.Go(p.run)
	p.off = o.Store.Watch(p.changed)
	return p
}

// Close ends the provider's goroutine and waits for it. Open canvases no longer learn of
// changes.
func (p *Provider) Close() error {
	p.off()
	p.stop()
	p.done.Wait()
	return nil
}

// Extension implements canvas.Declarer.
func (p *Provider) Extension() canvas.Extension {
	return canvas.Extension{ID: ExtensionID, Name: "AAP"}
}

// Declarations implements canvas.Declarer.
func (p *Provider) Declarations() []canvas.Declaration { return Declarations() }

// Declarations returns what a Provider declares.
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
	if req.CanvasID == PagesID {
		return p.openList(req, h)
	}
	return p.openPage(req, h)
}

// agent returns the agent that an input names, or else the only one.
func (p *Provider) agent(name string) (aap.Agent, error) {
	if name != "" {
		return p.store.Agent(name)
	}
	switch all := p.store.Agents(); len(all) {
	case 0:
		return aap.Agent{}, &aap.Error{Code: aap.CodeNotFound, Message: "there are no agents yet"}
	case 1:
		return all[0], nil
	}
	return aap.Agent{}, &aap.Error{Code: aap.CodeMissingField, Message: "agent is required, because there are several", Field: "agent"}
}

// canvasError returns an error of the store as one for agents.
func canvasError(err error) error {
	e, ok := err.(*aap.Error)
	if !ok {
		return err
	}
	out := canvas.Errorf(e.Code, "%s", e.Message)
	if e.Code == aap.CodeTooLarge {
		out.Code = canvas.CodeLimitExceeded
	}
	if e.Field != "" {
		out.Details = ahp.MustMarshal(struct {
			Field string `json:"field"`
		}{e.Field})
	}
	return out
}
