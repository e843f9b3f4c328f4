package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine/contentjson"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Options configures an Engine. Log is required.
type Options struct {
	// Log is the log that carries the canvas channels.
	Log *channels.Log
	// Store keeps open canvases over a restart; nil keeps none.
	Store channels.Store
	// NewID makes the opaque part of channel URIs, and the instance ids that callers
	// leave to the host. Ids are unique and consist of the letters that an instance id
	// may have. The default is random.
	NewID func() string
	// Now is the clock; the default is time.Now.
	Now func() time.Time
	// Limits bounds what providers, agents and Views may ask for.
	Limits canvas.Limits
	// Timeouts bounds how long a provider may take.
	Timeouts canvas.Timeouts
	// Caller reaches clients that provide canvases. Without it, what clients declare is
	// ignored.
	Caller Caller
	// AllowSchemes are URL schemes that canvases may point to in addition to the
	// policy's own (canvas/PROTOCOL.md section 6), without the colon: "file", "data".
	AllowSchemes []string
	// Allowed are the origins that canvases of this host's own providers may load from.
	Allowed allow.Lists
	// Memory counts compiled schemas and content; nil counts nothing.
	Memory *budget.Ledger
	// Files are part of the content of every instance, by path without the leading
	// slash. Providers are not asked for them.
	Files map[string]canvas.Content
	// History receives what happens; nil receives nothing.
	History History
	// Opened is called when an agent has opened a canvas, or opened it again, at the end
	// of the transaction in which it appears. It must be fast. Nil does nothing.
	Opened func(tx *channels.Tx, session, channel string)
	// Trace records opens, invokes, closes and reads of content; nil records nothing.
	Trace *trace.Tracer
	// Logger receives failures that have no caller; nil discards them.
	Logger *slog.Logger
}

// History is what people read about a session later. Its methods do not wait, and call
// nothing of the engine.
type History interface {
	// Add adds what happened in a session.
	Add(session string, one canvas.Happening)
	// Drop removes what happened in a session that ended.
	Drop(session string)
}

// noHistory is the History of an engine without one.
type noHistory struct{}

func (noHistory) Add(string, canvas.Happening) {}
func (noHistory) Drop(string)                  {}

// Engine runs the canvases of a host: the registry of providers, the flows that
// open, invoke and close, and the content that instances serve. Make it with New,
// end it with Shutdown. Its methods may be called concurrently.
type Engine struct {
	log      *channels.Log
	logger   *slog.Logger
	logOnce  sync.Once // logs the first failure of update
	newID    func() string
	now      func() time.Time
	limits   check.Limits
	timeouts canvas.Timeouts
	allowed  allow.Lists
	trace    *trace.Tracer

	// Content serves what instances show.
	Content *Content
	// Clients follows the clients that provide canvases.
	Clients *Clients

	tasks   *tasks
	turns   turns
	records records
	events  events
	history History
	commits *committer
	shown   *channels.WriteBehind // titles and statuses

	opened func(tx *channels.Tx, session, channel string)

	// Guarded by the log's mutex: read and changed in transactions only.
	registry  registry
	instances instances
	catalog   *catalog
	admission *admission
	restoring restoring
	ending    bool // Shutdown has begun: no provider is called any more
}

// New returns an engine and adds the canvas kind to the log.
func New(opts Options) *Engine {
	e := &Engine{
		log: opts.Log, newID: opts.NewID, now: opts.Now,
		logger:   cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		limits:   check.Limits{Limits: opts.Limits.WithDefaults(), Schemas: jsonschema.NewMemory(opts.Memory)},
		timeouts: opts.Timeouts.WithDefaults(), allowed: opts.Allowed, opened: opts.Opened, trace: opts.Trace,
		tasks: newTasks(), instances: newInstances(opts.Memory), history: noHistory{},
	}
	if opts.History != nil {
		e.history = opts.History
	}
	if e.newID == nil {
		e.newID = rand.Text
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.opened == nil {
		e.opened = func(*channels.Tx, string, string) {}
	}
	for _, scheme := range opts.AllowSchemes {
		e.limits.AllowSchemes = append(e.limits.AllowSchemes, strings.ToLower(strings.TrimSuffix(scheme, ":")))
	}
	store := opts.Store
	if store == nil {
		store = channels.NoStore
	}
	e.catalog = &catalog{engine: e}
	e.admission = &admission{engine: e, opening: map[string]int{}, disposing: map[string]bool{}}
	e.commits = &committer{log: e.log, store: store, catalog: e.catalog, timeout: e.timeouts.Open}
	e.shown = channels.NewWriteBehind(store, e.collectShown, e.logger)
	e.records = records{engine: e, extensions: map[string]*extensionRecords{}}
	e.turns = newTurns(e.limits.Waiting)
	e.Content = &Content{engine: e, pins: contentjson.NewPins(opts.Memory), cache: contentjson.Cache{Limit: e.limits.CacheBytes, Memory: opts.Memory}, files: opts.Files}
	opts.Memory.OnPressure(e.Content.cache.Empty)
	e.Clients = &Clients{engine: e, caller: opts.Caller}
	e.events = events{maxCount: e.limits.Events, maxBytes: e.limits.EventBytes, now: e.now, memory: opts.Memory, rings: map[string]*eventRing{}}
	e.log.AddKind((&kind{e}).describe())
	return e
}

// Prepare gives a new session its registry and catalog. It is the hook of that name
// of package session, and runs under the log's lock.
func (e *Engine) Prepare(_ *channels.Tx, uri string, st session.State) session.State {
	delete(e.admission.disposing, uri)
	e.events.begin(uri)
	st.Canvases = e.registry.declared(uri)
	st.OpenCanvases = e.restoring.catalog(uri)
	return st
}

// Shutdown ends every flow and handle, and waits until providers have returned or
// ctx is done; then it commits what is still uncommitted. Instances are not closed:
// they outlive the process.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.log.View(func(*channels.ReadTx) {
		e.ending = true
		for _, r := range e.registry {
			r.failCalls(errShuttingDown)
		}
		for i := range e.instances.all() {
			i.disconnect()
		}
	})
	return errors.Join(e.tasks.stop(ctx), e.shown.Flush(ctx))
}

// List returns what can be opened in a session.
func (e *Engine) List(uri string) ([]session.SessionCanvasDeclaration, error) {
	state, _ := e.log.State(uri)
	st, ok := state.(session.State)
	if !ok {
		return nil, sessionNotFound(uri)
	}
	return slices.Clone(st.Canvases), nil
}

// ListOpen returns the open canvases of a session, in the order of opening.
func (e *Engine) ListOpen(uri string) ([]canvas.OpenCanvas, error) {
	list := []canvas.OpenCanvas{}
	err := e.locked(func(tx *channels.ReadTx) error {
		st, ok := sessionState(tx, uri)
		if !ok {
			return sessionNotFound(uri)
		}
		for _, ref := range st.OpenCanvases {
			if state, ok := tx.State(ref.Channel); ok {
				list = append(list, e.instances.byChannel[ref.Channel].asOpen(state.(canvas.CanvasState)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// stateReader is a transaction of either kind, as far as it reads states.
type stateReader interface {
	State(uri string) (channels.State, bool)
}

func sessionState(tx stateReader, uri string) (session.State, bool) {
	state, _ := tx.State(uri)
	st, ok := state.(session.State)
	return st, ok
}

func sessionNotFound(uri string) error {
	return canvas.Errorf(canvas.CodeSessionNotFound, "there is no session %q", uri)
}

// titleOf returns what people call an instance.
func titleOf(st canvas.CanvasState) string {
	return cmp.Or(deref(st.Title), st.DisplayName, st.InstanceID)
}

// happened adds what happened to an instance to the history.
func (e *Engine) happened(i *instance, st canvas.CanvasState, who canvas.Actor, what string) {
	e.history.Add(i.key.session, canvas.Happening{Who: who, What: what, InstanceID: i.key.instance, Title: titleOf(st)})
}

// happenedNow is happened for an instance whose state the caller does not have.
func (e *Engine) happenedNow(i *instance, who canvas.Actor, what string) {
	var st canvas.CanvasState
	e.log.View(func(tx *channels.ReadTx) { st, _ = i.state(tx) })
	e.happened(i, st, who, what)
}

// actorOf returns the person or the agent of a connection. It runs under the log's lock.
func actorOf(s *channels.Subscriber) canvas.Actor {
	who := viewOf(s).Actor()
	who.Name = s.Name
	return who
}

// actor is actorOf for a caller without the lock.
func (e *Engine) actor(s *channels.Subscriber) (who canvas.Actor) {
	e.log.View(func(*channels.ReadTx) { who = actorOf(s) })
	return who
}

// agentOf returns the agent that calls.
func agentOf(ctx context.Context) canvas.Actor {
	return canvas.Actor{Kind: canvas.ActorAgent, Name: canvas.Caller(ctx)}
}

// locked runs fn with the log locked and returns its error: for checks, and for
// changes of the engine's own fields.
func (e *Engine) locked(fn func(tx *channels.ReadTx) error) (err error) {
	e.log.View(func(tx *channels.ReadTx) { err = fn(tx) })
	return err
}

// update runs a transaction that has no caller to return an error to. It fails,
// with nothing changed, only if the log has run out of sequence numbers, which ends
// the host: the first failure is logged.
func (e *Engine) update(fn func(tx *channels.Tx)) {
	err := e.log.Update(func(tx *channels.Tx) error { fn(tx); return nil })
	if err != nil {
		e.logOnce.Do(func() { e.logger.Error("canvas state not published", "err", err) })
	}
}

// publish appends a host action to a channel that exists. A failure is a bug; it is
// logged, because the rest of the transaction stands.
func (e *Engine) publish(tx *channels.Tx, uri string, a ahp.Action) {
	if err := tx.Append(uri, a); err != nil {
		tx.Later(func() { e.logger.Error("action not published", "channel", uri, "method", a.ActionType(), "err", err) })
	}
}
