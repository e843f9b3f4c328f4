package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Options configures an Engine. Log is required.
type Options struct {
	Log *channels.Log
	// Store keeps open canvases over a restart; nil keeps none.
	Store channels.Store
	// NewID makes the opaque part of channel URIs, and instance ids that nobody
	// chose: unique, of the letters that an instance id may have. The default is
	// random.
	NewID    func() string
	Now      func() time.Time // default time.Now
	Limits   canvas.Limits
	Timeouts canvas.Timeouts
	// Caller reaches clients that provide canvases; without one, what clients
	// declare is not folded.
	Caller Caller
	// AllowSchemes are url schemes that canvases may point to beside the policy's
	// own (canvas.md section 6), without the colon: "file", "data".
	AllowSchemes []string
	Logger       *slog.Logger // nil discards
}

// Engine is the canvas surface of a host: the registry of providers, the flows
// that open, invoke and close, and the content that instances serve. Make it
// with New, end it with Shutdown. Its methods may be called concurrently.
type Engine struct {
	log      *channels.Log
	newID    func() string
	now      func() time.Time
	limits   check.Limits
	timeouts canvas.Timeouts
	caller   Caller
	vetted   vetted
	logger   *slog.Logger
	tasks    *tasks
	flows    flows
	cache    cache
	events   events
	store    channels.Store
	line     groupcommit.Queue[*change] // of flows that want to be kept
	behind   *channels.WriteBehind
	logOnce  sync.Once         // logs the first failure of update
	sweep    []channels.Change // records that belong to nobody; between Load and Restore

	// Guarded by the log's mutex: touched in transactions only.
	regs       []*Registration
	instances  instances
	byChannel  map[string]*instance
	opening    map[string]int         // opens under way that may add an instance, by session
	openings   int                    // the sum of them
	disposing  map[string]bool        // sessions that take no more instances
	loaded     map[string][]*restored // by session, between Load and Restore
	restoring  bool                   // likewise: clients are listed, and not there
	ending     bool                   // no provider is asked any more
	collecting *rowChanges            // the rows of a transaction that writes them at its end; nil writes each at once
}

// New makes the service and teaches the log the canvas kind.
func New(opts Options) *Engine {
	s := &Engine{
		log: opts.Log, caller: opts.Caller, newID: opts.NewID, now: opts.Now, logger: opts.Logger,
		limits: check.Limits{Limits: opts.Limits.WithDefaults()}, timeouts: opts.Timeouts.WithDefaults(),
		tasks: newTasks(), store: opts.Store,
		instances: instances{sessions: map[string]map[string]*instance{}}, byChannel: map[string]*instance{},
		opening: map[string]int{}, disposing: map[string]bool{},
	}
	if s.store == nil {
		s.store = channels.NoStore
	}
	if s.newID == nil {
		s.newID = rand.Text
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.behind = channels.NewWriteBehind(s.store, s.collect, s.logger)
	for _, scheme := range opts.AllowSchemes {
		s.limits.AllowSchemes = append(s.limits.AllowSchemes, strings.ToLower(strings.TrimSuffix(scheme, ":")))
	}
	s.flows = flows{limit: s.limits.Waiting, turns: map[key][]chan struct{}{}}
	s.cache.limit = s.limits.CacheBytes
	s.events = events{maxCount: s.limits.Events, maxBytes: s.limits.EventBytes, now: s.now, rings: map[string]*eventRing{}}
	s.log.AddKind(s.kind())
	return s
}

// Prepare gives a new session its registry. It is the hook of that name of
// package session, and runs under the log's lock.
func (s *Engine) Prepare(_ *channels.Tx, uri string, st session.State) session.State {
	delete(s.disposing, uri)
	s.events.begin(uri)
	st.Canvases = s.registryOf(uri)
	st.OpenCanvases = s.rows(uri)
	return st
}

// Shutdown ends every flow and handle, and waits until providers have returned
// or ctx is done; then it commits what is still to be committed. Instances are not
// closed: they outlive the process.
func (s *Engine) Shutdown(ctx context.Context) error {
	s.log.View(func(*channels.ReadTx) {
		s.ending = true
		for _, r := range s.regs {
			for c := range r.calls {
				c.lose(errShuttingDown)
			}
		}
		for i := range s.instances.in("") {
			i.quiet()
		}
	})
	return errors.Join(s.tasks.stop(ctx), s.behind.Flush(ctx))
}

// List returns what a session's agent can open.
func (s *Engine) List(uri string) ([]session.SessionCanvasDeclaration, error) {
	st, err := s.session(uri)
	return slices.Clone(st.Canvases), err
}

// ListOpen returns the open canvases of a session, in the order of opening.
func (s *Engine) ListOpen(uri string) ([]canvas.OpenCanvas, error) {
	list := []canvas.OpenCanvas{}
	err := s.locked(func(tx *channels.ReadTx) error {
		st, ok := sessionState(tx, uri)
		if !ok {
			return sessionNotFound(uri)
		}
		for _, ref := range st.OpenCanvases {
			if state, ok := tx.State(ref.Channel); ok {
				list = append(list, openCanvas(ref.Channel, state.(canvas.CanvasState)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s *Engine) session(uri string) (session.State, error) {
	state, ok := s.log.State(uri)
	st, isSession := state.(session.State)
	if !ok || !isSession {
		return session.State{}, sessionNotFound(uri)
	}
	return st, nil
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

// locked runs fn with the log locked, and returns its error: for checks, and for
// the engine's own fields.
func (s *Engine) locked(fn func(tx *channels.ReadTx) error) (err error) {
	s.log.View(func(tx *channels.ReadTx) { err = fn(tx) })
	return err
}

// update runs a transaction that has no caller to return an error to. It fails,
// with nothing changed, only if the log is out of sequence numbers, which ends
// the host: the first failure is logged.
func (s *Engine) update(fn func(tx *channels.Tx)) {
	err := s.log.Update(func(tx *channels.Tx) error { fn(tx); return nil })
	if err != nil {
		s.logOnce.Do(func() { s.logger.Error("canvas state not published", "err", err) })
	}
}

// append publishes a host action on a channel that is there; that it fails is a
// bug, and then the log says so instead of half a transaction going unnoticed.
func (s *Engine) append(tx *channels.Tx, uri string, a ahp.Action) {
	if err := tx.Append(uri, a); err != nil {
		tx.Later(func() { s.logger.Error("action not published", "channel", uri, "method", a.ActionType(), "err", err) })
	}
}
