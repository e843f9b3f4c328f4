package session

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures a Service. Log is required.
type Options struct {
	Log *channels.Log
	// Agent is the one entry of the root channel; a zero one names this host.
	Agent AgentInfo
	Now   func() time.Time // default time.Now
	// MaxSessions is how many sessions there may be at once; default 1,024.
	MaxSessions int
	Logger      *slog.Logger

	// Prepare completes the state of a session before anybody sees it; it runs
	// under the log's lock and must be pure. Nil changes nothing.
	Prepare func(tx *channels.Tx, uri string, s State) State
	// Vet holds an active client's declaration against the rules of whoever uses
	// it, without a lock. Nil lets everything through.
	Vet func(c SessionActiveClient) error
	// After runs under the log's lock when an action changed a session, and may
	// append to it. Nil does nothing.
	After func(tx *channels.Tx, uri string, before, now State)
	// BeforeDispose ends what lives in a session before it is removed, and may
	// wait. Nil does nothing.
	BeforeDispose func(ctx context.Context, uri string)
}

// Service makes, lists and ends sessions. Its methods may be called
// concurrently.
type Service struct {
	log     *channels.Log
	agent   AgentInfo
	now     func() time.Time
	limit   int
	logger  *slog.Logger
	prepare func(tx *channels.Tx, uri string, s State) State
	dispose func(ctx context.Context, uri string)
	vet     func(c SessionActiveClient) error
	after   func(tx *channels.Tx, uri string, before, now State)

	// sessions is what the catalogue knows beside the channel's state. Guarded
	// by the log's mutex: it is touched in transactions only.
	sessions map[string]*entry
}

// entry is a session of the catalogue.
type entry struct {
	created, modified time.Time
	order             int64 // of modification, for equal times
	ending            bool  // somebody disposes of it already
}

// New makes the service, teaches the log the root and the session kind, and
// creates the root channel.
func New(opts Options) *Service {
	s := &Service{
		log:      opts.Log,
		agent:    opts.Agent,
		now:      opts.Now,
		limit:    cmp.Or(opts.MaxSessions, 1024),
		logger:   opts.Logger,
		prepare:  opts.Prepare,
		dispose:  opts.BeforeDispose,
		vet:      opts.Vet,
		after:    opts.After,
		sessions: map[string]*entry{},
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.agent.Provider == "" {
		s.agent = AgentInfo{Provider: "canvas", DisplayName: "Canvas host", Description: "Opens canvases and shows them on any screen.", Models: []ahp.Value{}}
	}
	s.log.AddKind(rootKind())
	if s.vet == nil {
		s.vet = func(SessionActiveClient) error { return nil }
	}
	s.log.AddKind(kind(s.check, s.changed))
	zero := int64(0)
	err := s.log.Do(func(tx *channels.Tx) error {
		return tx.Create(ahp.RootURI, "", RootState{Agents: []AgentInfo{s.agent}, ActiveSessions: &zero})
	})
	if err != nil {
		panic(err) // two services on one log
	}
	return s
}

// Ensure makes a session of the host's own, where it is not there yet.
func (s *Service) Ensure(uri, title string) error {
	return s.log.Do(func(tx *channels.Tx) error {
		if _, ok := tx.State(uri); ok {
			return nil
		}
		return s.create(tx, uri, State{Title: title})
	})
}

// CreateSession answers the request of that name (ahp-host.md section 3b).
func (s *Service) CreateSession(_ context.Context, from *channels.Subscriber, p CreateSessionParams) (ahp.None, error) {
	if err := s.validate(from, p); err != nil {
		return ahp.None{}, err
	}
	return ahp.None{}, s.log.Do(func(tx *channels.Tx) error {
		if _, ok := tx.State(p.Channel); ok {
			return ahp.Errorf(ahp.CodeSessionExists, "session already exists")
		}
		err := s.create(tx, p.Channel, State{Title: "New Session", WorkingDirectory: p.WorkingDirectory})
		if err != nil || p.ActiveClient == nil {
			return err
		}
		return tx.Append(p.Channel, ActiveClientSet{ActiveClient: *p.ActiveClient})
	})
}

func (s *Service) validate(from *channels.Subscriber, p CreateSessionParams) error {
	id, ok := strings.CutPrefix(p.Channel, ahp.SchemeSession+":/")
	switch {
	case !ok || strings.Trim(id, "/") == "":
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /channel: want ahp-session:/<id>")
	case len(p.Channel) > ahp.MaxURI:
		return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /channel: longer than %d bytes", ahp.MaxURI)
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

// create publishes a session: channel, catalogue notification and count are one
// transaction.
func (s *Service) create(tx *channels.Tx, uri string, st State) error {
	if len(s.sessions) >= s.limit {
		return ahp.Errorf(ahp.CodePermissionDenied, "this host has %d sessions, which is its limit: dispose of one first", s.limit)
	}
	st.Provider, st.Status, st.Lifecycle = s.agent.Provider, StatusIdle, LifecycleReady
	if s.prepare != nil {
		st = s.prepare(tx, uri, st)
	}
	if err := tx.Create(uri, "", st); err != nil {
		return err
	}
	now := s.now()
	s.sessions[uri] = &entry{created: now, modified: now, order: tx.Seq()}
	tx.Notify(ahp.RootURI, SessionAdded.Name, SessionAddedParams{Channel: ahp.RootURI, Summary: s.summary(uri, st)})
	return s.counted(tx)
}

func (s *Service) counted(tx *channels.Tx) error {
	return tx.Append(ahp.RootURI, ActiveSessionsChanged{ActiveSessions: int64(len(s.sessions))})
}

// DisposeSession answers the request of that name: what lives in the session is
// ended first, then it is removed, then the caller is answered.
func (s *Service) DisposeSession(ctx context.Context, _ *channels.Subscriber, p ahp.ChannelParams) (ahp.None, error) {
	err := s.log.Do(func(*channels.Tx) error {
		e := s.sessions[p.Channel]
		if e == nil || e.ending {
			return ahp.ErrSessionNotFound
		}
		e.ending = true
		return nil
	})
	if err != nil {
		return ahp.None{}, err
	}
	if s.dispose != nil {
		s.dispose(ctx, p.Channel)
	}
	return ahp.None{}, s.log.Do(func(tx *channels.Tx) error {
		tx.Remove(p.Channel)
		delete(s.sessions, p.Channel)
		tx.Notify(ahp.RootURI, SessionRemoved.Name, SessionRemovedParams{Channel: ahp.RootURI, Session: p.Channel})
		return s.counted(tx)
	})
}

// ListSessions answers the request of that name.
func (s *Service) ListSessions(context.Context, *channels.Subscriber, ListSessionsParams) (ListSessionsResult, error) {
	type row struct {
		summary SessionSummary
		entry   entry
	}
	var rows []row
	err := s.log.Do(func(tx *channels.Tx) error {
		for uri, e := range s.sessions {
			state, _ := tx.State(uri)
			rows = append(rows, row{s.summary(uri, state.(State)), *e})
		}
		return nil
	})
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(b.entry.modified.Compare(a.entry.modified), cmp.Compare(b.entry.order, a.entry.order),
			cmp.Compare(a.summary.Resource, b.summary.Resource))
	})
	items := make([]SessionSummary, 0, len(rows))
	for _, r := range rows {
		items = append(items, r.summary)
	}
	return ListSessionsResult{Items: items}, err
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
