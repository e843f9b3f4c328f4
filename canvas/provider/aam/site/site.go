package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// Executor runs a site's actions.
type Executor interface {
	// Execute runs an action. The parameters fit the action's schema. An error of type
	// *[Failure] reaches the agent; of any other it learns that the action failed.
	Execute(ctx context.Context, c Call) (ahp.Value, error)
}

// Call is one call of an agent.
type Call struct {
	// Action is the configured action.
	Action Action
	// Input is the parameters, a JSON object.
	Input ahp.Value
	// User is whose agent it is: the grant's user, the hash of an AAM ID subject, or ""
	// for a public action.
	User string
	// Vendor is whose agent made the call. For a public action it is a claim.
	Vendor string
	// RunID names the call in the audit.
	RunID string
}

// Describer is an [Executor] that knows its actions. The manifest then has their
// descriptions and schemas, and leaves out those that cannot be run now.
type Describer interface {
	// Describe returns an action's description and the JSON Schema of its input.
	Describe(a Action) (description string, input ahp.Value, ok bool)
}

// Func is an [Executor] of one function.
type Func func(ctx context.Context, c Call) (ahp.Value, error)

// Execute calls f.
func (f Func) Execute(ctx context.Context, c Call) (ahp.Value, error) { return f(ctx, c) }

// Options configure a [Site] beyond its [Config].
type Options struct {
	// Rails take payments, by the pricing type; they are added to x402.
	Rails map[string]Rail
	// Consent serves the sign-in page of a site that has users. Without it, the
	// page files a request, which [Site.Approve] grants.
	Consent Consent
	// HTTP fetches the keys of issuers, and speaks with a facilitator. It should refuse
	// addresses that are not public. Nil is [http.DefaultClient].
	HTTP Doer
	// Proven is called for each request with a valid credential, so that a limit of
	// connections can prefer it to those of strangers. If it returns false, the request
	// is answered with 503. Nil is always true.
	Proven func(*http.Request) bool
	// Limits replace the defaults.
	Limits Limits
	// Logger receives failures, without secrets. Nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Doer sends an HTTP request, as an [http.Client] does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Limits bound what strangers and agents can take. Each comment names the default.
type Limits struct {
	Body       int64         // bytes of a request's body; 64 KiB
	Calls      int           // that run at a time; 32. Those of public actions have three quarters
	Tokens     int           // agents that are let in, and codes; 256
	Requests   int           // that wait for the owner; 20
	RequestsPM int           // requests a minute; 6
	Rows       int           // of the audit; 10,000
	Run        time.Duration // of an action; 30 s
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 64<<10)
	l.Calls = cmp.Or(l.Calls, 32)
	l.Tokens = cmp.Or(l.Tokens, 256)
	l.Requests = cmp.Or(l.Requests, 20)
	l.RequestsPM = cmp.Or(l.RequestsPM, 6)
	l.Rows = cmp.Or(l.Rows, 10_000)
	l.Run = cmp.Or(l.Run, 30*time.Second)
	return l
}

// Site is a site that agents use. Make it with [New], serve its [Site.Handler], and end it
// with [Site.Close]. Its methods may be called concurrently.
type Site struct {
	config   Config
	executor Executor
	opts     Options
	limits   Limits
	logger   *slog.Logger
	rails    map[string]Rail
	journal  journal
	audit    audit
	ids      identities
	schemas  schemas
	running  chan struct{} // a place for each call that runs
	public   chan struct{} // likewise for those of public actions, which strangers make

	collecting sync.Mutex // one batch at a time

	watching sync.Mutex
	watchers map[*func()]struct{}

	mu       sync.Mutex
	tokens   map[string]*token // by the hash of the secret
	codes    map[string]*code  // by the hash of the code
	requests []Request
	asked    window // requests filed
	tries    window // wrong codes
	nonces   map[string]time.Time
	purged   time.Time // when nonces and uses were purged last
	people   map[string]*use
	kept     map[string]*Kept // payments to collect, by their record's key
}

// New returns a site with what its store has. A nil store is [Memory].
func New(c Config, e Executor, store Store, o Options) (*Site, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("the site's configuration: %w", err)
	}
	if store == nil {
		store = Memory()
	}
	s := &Site{
		config: c, executor: e, opts: o, limits: o.Limits.withDefaults(), logger: o.Logger,
		tokens: map[string]*token{}, codes: map[string]*code{}, nonces: map[string]time.Time{},
		people: map[string]*use{}, kept: map[string]*Kept{},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.opts.HTTP == nil {
		s.opts.HTTP = http.DefaultClient
	}
	s.journal.store = store
	s.running, s.public = make(chan struct{}, s.limits.Calls), make(chan struct{}, max(s.limits.Calls*3/4, 1))
	s.asked, s.tries = window{limit: s.limits.RequestsPM, what: "requests"}, window{limit: codeTries, what: "wrong codes"}
	if err := s.setUp(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("the site's store: %w", err)
	}
	s.audit.start(&s.journal, s.changed, s.logger)
	return s, nil
}

// setUp makes the rails and the issuers of the configuration.
func (s *Site) setUp() error {
	s.rails = map[string]Rail{}
	maps.Copy(s.rails, s.opts.Rails)
	if s.rails[aam.X402] == nil && s.config.Settle != nil {
		s.rails[aam.X402] = newX402(*s.config.Settle, s.opts.HTTP)
	}
	for n, a := range s.config.Actions {
		if !a.Pricing.Free() && s.rails[a.Pricing.Type] == nil {
			return fmt.Errorf("the site's configuration: /actions/%d/pricing/type %q: no rail takes it", n, a.Pricing.Type)
		}
	}
	var err error
	s.ids, err = newIdentities(s.config, s.opts.HTTP, s.now)
	return err
}

// Close ends the background writer of the audit, after it has written everything. Calls
// must have ended.
func (s *Site) Close() error {
	err := s.audit.stop()
	if last := s.journal.add(); len(last.changes) > 0 {
		err = errors.Join(err, s.journal.commit(last))
	}
	return err
}

func (s *Site) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now()
}

// Watch has fn called after requests, tokens, the audit or payments have changed, until
// stop is called. fn must not block or call the site.
func (s *Site) Watch(fn func()) (stop func()) {
	s.watching.Lock()
	defer s.watching.Unlock()
	if s.watchers == nil {
		s.watchers = map[*func()]struct{}{}
	}
	s.watchers[&fn] = struct{}{}
	return func() {
		s.watching.Lock()
		defer s.watching.Unlock()
		delete(s.watchers, &fn)
	}
}

func (s *Site) changed() {
	s.watching.Lock()
	defer s.watching.Unlock()
	for fn := range s.watchers {
		(*fn)()
	}
}

func (s *Site) storeFailed(err error) *Refusal {
	s.logger.Error("aam: the site's store failed", "err", err)
	return refuse(http.StatusServiceUnavailable, CodeUnavailable, "the site cannot save this now; nothing was run")
}

// Origin returns the site's origin.
func (s *Site) Origin() string { return s.config.Origin }

// Info returns the site's name and domain.
func (s *Site) Info() Info { return s.config.Site }

// Actions returns the configured actions.
func (s *Site) Actions() []Action { return s.config.Actions }

// window counts events in one minute.
type window struct {
	limit int
	what  string
	from  time.Time
	n     int
}

// full refuses what comes after the limit, until the minute is over.
func (w *window) full(now time.Time) *Refusal {
	if left := w.from.Add(time.Minute).Sub(now); w.n >= w.limit && left > 0 {
		r := refuse(http.StatusTooManyRequests, CodeLimit, "too many %s; try again in a minute", w.what)
		r.RetryAfter = left
		return r
	}
	return nil
}

func (w *window) count(now time.Time) {
	if now.Sub(w.from) >= time.Minute {
		w.from, w.n = now, 0
	}
	w.n++
}
