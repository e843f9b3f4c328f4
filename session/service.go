package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Service makes, lists and ends sessions. Its methods may be called
// concurrently.
type Service struct {
	log     *channels.Log
	agent   AgentInfo
	now     func() time.Time
	limit   int
	logger  *slog.Logger
	prepare func(tx *channels.Tx, uri string, s State) State
	dispose func(ctx context.Context, uri string) (after func(tx *channels.Tx, gone bool), err error)
	store   channels.Store
	behind  *channels.WriteBehind
	newID   func() string
	caps    func(clientID string) ahp.Capabilities
	vet     func(c SessionActiveClient) error
	after   func(tx *channels.Tx, uri string, before, now State)

	// sessions is what the catalogue knows beside the channel's state. Guarded
	// by the log's mutex: it is touched in transactions only.
	sessions map[string]*entry
	making   map[string]bool // URIs of sessions that are on their way to disk
}

// entry is a session of the catalogue.
type entry struct {
	id                string // of its records
	created, modified time.Time
	order             int64 // of modification, for equal times
	ending            bool  // somebody disposes of it already
}

// New makes the service, teaches the log the root and the session kind, and
// creates the root channel.
func New(opts Options) *Service {
	opts = opts.withDefaults()
	s := &Service{
		log:      opts.Log,
		agent:    opts.Agent,
		now:      opts.Now,
		limit:    opts.MaxSessions,
		logger:   opts.Logger,
		prepare:  opts.Prepare,
		dispose:  opts.BeforeDispose,
		vet:      opts.Vet,
		after:    opts.After,
		sessions: map[string]*entry{},
		making:   map[string]bool{},
		store:    opts.Store,
		newID:    opts.NewID,
		caps:     opts.Capabilities,
	}
	s.behind = channels.NewWriteBehind(s.store, s.collect, s.logger)
	s.log.AddKind(rootKind())
	s.log.AddKind(kind(s.check, s.changed))
	zero := int64(0)
	err := s.log.Update(func(tx *channels.Tx) error {
		return tx.Create(ahp.RootURI, "", RootState{Agents: []AgentInfo{s.agent}, ActiveSessions: &zero})
	})
	if err != nil {
		panic(err) // two services on one log
	}
	return s
}

// Ensure makes a session of the host's own, where it is not there yet.
func (s *Service) Ensure(uri, title string) error {
	err := s.make(context.Background(), uri, s.newState(title, nil), nil)
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// CreateSession answers the request of that name (ahp-host.md section 3b).
func (s *Service) CreateSession(ctx context.Context, from *channels.Subscriber, p CreateSessionParams) (ahp.None, error) {
	if err := s.validate(from, p); err != nil {
		return ahp.None{}, err
	}
	return ahp.None{}, s.make(ctx, p.Channel, s.newState("New Session", p.WorkingDirectory), p.ActiveClient)
}

var errExists = ahp.Errorf(ahp.CodeSessionExists, "session already exists")

// make reserves a session's URI, makes it durable, and then visible.
func (s *Service) make(ctx context.Context, uri string, st State, client *SessionActiveClient) error {
	now := s.now()
	e := &entry{id: s.newID(), created: now, modified: now}
	err := s.locked(func(tx *channels.ReadTx) error {
		if _, ok := tx.State(uri); ok || s.making[uri] {
			return errExists
		}
		if len(s.sessions)+len(s.making) >= s.limit {
			return ahp.Errorf(ahp.CodePermissionDenied, "this host has %d sessions, which is its limit: dispose of one first", s.limit)
		}
		s.making[uri] = true
		return nil
	})
	if err != nil {
		return err
	}
	if err = s.keepNew(ctx, uri, e, st, client); err != nil {
		s.log.View(func(*channels.ReadTx) { delete(s.making, uri) })
		return err
	}
	err = s.log.Update(func(tx *channels.Tx) error {
		if err := s.create(tx, uri, e, st); err != nil || client == nil {
			return err
		}
		return tx.Append(uri, ActiveClientSet{ActiveClient: *client})
	})
	if err != nil {
		s.abandon(ctx, uri, e)
	}
	return err
}

// abandon removes the record of a session that was committed and could not be
// published, and releases its URI.
func (s *Service) abandon(ctx context.Context, uri string, e *entry) {
	published := false
	s.log.View(func(*channels.ReadTx) { published = s.sessions[uri] == e })
	if published {
		return
	}
	err := s.store.Commit(context.WithoutCancel(ctx), channels.Change{Key: sessionKey + uri, Delete: true})
	if err != nil {
		s.logger.Error("record of an unpublished session not removed", "channel", uri, "err", err)
	}
	s.log.View(func(*channels.ReadTx) { delete(s.making, uri) })
}

// locked runs fn with the log locked, and returns its error: for checks, and for
// the service's own fields.
func (s *Service) locked(fn func(tx *channels.ReadTx) error) (err error) {
	s.log.View(func(tx *channels.ReadTx) { err = fn(tx) })
	return err
}

func (s *Service) validate(from *channels.Subscriber, p CreateSessionParams) error {
	id, ok := strings.CutPrefix(p.Channel, ahp.SchemeSession+":/")
	switch {
	case !ok || strings.Trim(id, "/") == "":
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /channel: want ahp-session:/<id>")
	case len(p.Channel) > ahp.MaxURI:
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /channel: longer than %d bytes", ahp.MaxURI)
	case strings.ContainsFunc(p.Channel, unicode.IsControl): // marks of records are cut at one
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /channel: must not hold control characters")
	case p.WorkingDirectory != nil && len(*p.WorkingDirectory) > maxPath:
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /workingDirectory: longer than %d bytes", maxPath)
	case p.Provider != nil && *p.Provider != s.agent.Provider:
		return ahp.Errorf(ahp.CodeProviderNotFound, "no such agent provider")
	case p.Fork != nil && p.Fork.Kind() != 'n':
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /fork: this host cannot fork sessions")
	case p.ActiveClient != nil && p.ActiveClient.ClientID != from.ClientID:
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /activeClient/clientId: must be the connection's own")
	}
	if p.ActiveClient != nil {
		if err := s.vet(*p.ActiveClient); err != nil {
			return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /activeClient: %v", err)
		}
	}
	return nil
}

// check holds an active client's declaration against its user's rules.
func (s *Service) check(_ *channels.Subscriber, a ahp.Action) error {
	if set, ok := a.(ActiveClientSet); ok {
		return s.vet(set.ActiveClient)
	}
	return nil
}

// maxPath bounds a session's working directory, in bytes.
const maxPath = 4096

// create publishes a session: channel, catalogue notification and count are one
// transaction.
func (s *Service) create(tx *channels.Tx, uri string, e *entry, st State) error {
	if s.prepare != nil {
		st = s.prepare(tx, uri, st)
	}
	if err := tx.Create(uri, "", st); err != nil {
		return err
	}
	e.order = tx.Seq()
	s.sessions[uri] = e
	delete(s.making, uri)
	tx.Notify(ahp.RootURI, SessionAdded.Name, SessionAddedParams{Channel: ahp.RootURI, Summary: s.summary(uri, st)})
	return s.counted(tx)
}

func (s *Service) counted(tx *channels.Tx) error {
	return tx.Append(ahp.RootURI, ActiveSessionsChanged{ActiveSessions: int64(len(s.sessions))})
}

// DisposeSession answers the request of that name: what lives in the session is
// ended first, then its end is made durable, then it is removed, then the caller
// is answered. Where the end cannot be kept, the session stays.
func (s *Service) DisposeSession(ctx context.Context, _ *channels.Subscriber, p ahp.ChannelParams) (ahp.None, error) {
	var e *entry
	err := s.locked(func(*channels.ReadTx) error {
		if e = s.sessions[p.Channel]; e == nil || e.ending {
			return ahp.ErrSessionNotFound
		}
		e.ending = true
		return nil
	})
	if err != nil {
		return ahp.None{}, err
	}
	after, ended := s.end(ctx, p.Channel, e)
	err = s.log.Update(func(tx *channels.Tx) error {
		after(tx, ended == nil)
		if ended != nil {
			return ended
		}
		tx.Remove(p.Channel)
		delete(s.sessions, p.Channel)
		tx.Notify(ahp.RootURI, SessionRemoved.Name, SessionRemovedParams{Channel: ahp.RootURI, Session: p.Channel})
		return s.counted(tx)
	})
	if err != nil {
		s.log.View(func(*channels.ReadTx) { e.ending = false })
	}
	return ahp.None{}, cmp.Or(ended, err)
}

// end ends what lives in a session, and makes its end durable. The session goes
// whether or not the caller still waits.
func (s *Service) end(ctx context.Context, uri string, e *entry) (after func(tx *channels.Tx, gone bool), err error) {
	ctx = context.WithoutCancel(ctx)
	after = func(*channels.Tx, bool) {}
	if s.dispose != nil {
		then, err := s.dispose(ctx, uri)
		if err != nil {
			return after, stays(err)
		}
		after = then
	}
	return after, s.keepGone(ctx, uri, e)
}

// ListSessions answers the request of that name.
func (s *Service) ListSessions(context.Context, *channels.Subscriber, ListSessionsParams) (ListSessionsResult, error) {
	type row struct {
		summary SessionSummary
		entry   entry
	}
	var rows []row
	s.log.View(func(tx *channels.ReadTx) {
		for uri, e := range s.sessions {
			state, _ := tx.State(uri)
			rows = append(rows, row{s.summary(uri, state.(State)), *e})
		}
	})
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(b.entry.modified.Compare(a.entry.modified), cmp.Compare(b.entry.order, a.entry.order),
			cmp.Compare(a.summary.Resource, b.summary.Resource))
	})
	items := make([]SessionSummary, 0, len(rows))
	for _, r := range rows {
		items = append(items, r.summary)
	}
	return ListSessionsResult{Items: items}, nil
}

// ResolveSessionConfig answers that sessions of this host have no config.
func (s *Service) ResolveSessionConfig(context.Context, *channels.Subscriber, ResolveSessionConfigParams) (ResolveSessionConfigResult, error) {
	return ResolveSessionConfigResult{
		Schema: ConfigSchema{Type: "object", Properties: map[string]ahp.Value{}},
		Values: map[string]ahp.Value{},
	}, nil
}

// SessionConfigCompletions answers that there is nothing to complete.
func (s *Service) SessionConfigCompletions(context.Context, *channels.Subscriber, SessionConfigCompletionsParams) (CompletionsResult, error) {
	return CompletionsResult{Items: []ahp.Value{}}, nil
}
