package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"unicode"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Service creates, lists and removes sessions. Its methods may be called concurrently.
type Service struct {
	log     *channels.Log
	agent   AgentInfo
	logger  *slog.Logger
	prepare func(tx *channels.Tx, uri string, s State) State
	dispose func(ctx context.Context, uri string) (after func(tx *channels.Tx, gone bool), err error)
	newID   func() string
	vet     func(c SessionActiveClient) error
	after   func(tx *channels.Tx, uri string, before, now State)

	memory  *budget.Ledger
	catalog *catalog
	keeper  *keeper
}

// New returns a service. It adds the root kind and the session kind to the log and
// creates the root channel. It panics if the log has a service already.
func New(opts Options) *Service {
	opts = opts.withDefaults()
	s := &Service{
		log:     opts.Log,
		agent:   opts.Agent,
		logger:  opts.Logger,
		prepare: opts.Prepare,
		dispose: opts.BeforeDispose,
		vet:     opts.Vet,
		after:   opts.After,
		newID:   opts.NewID,
		memory:  opts.Memory,
		catalog: newCatalog(opts.Now, opts.MaxSessions, opts.Memory),
	}
	s.keeper = newKeeper(opts, s.catalog)
	s.log.AddKind(rootKind())
	s.log.AddKind(kind(s.catalog.permitOwned, s.check, s.changed))
	zero := int64(0)
	err := s.log.Update(func(tx *channels.Tx) error {
		return tx.Create(ahp.RootURI, "", RootState{Agents: []AgentInfo{s.agent}, ActiveSessions: &zero})
	})
	if err != nil {
		panic(err) // two services on one log
	}
	return s
}

// Ensure creates a session of the host if it does not exist.
func (s *Service) Ensure(uri, title string) error {
	err := s.make(context.Background(), uri, s.newState(title, nil), nil, entry{})
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// CreateSession handles the request of that name (ahp/PROTOCOL.md section 3b).
func (s *Service) CreateSession(ctx context.Context, from *channels.Subscriber, p CreateSessionParams) (ahp.None, error) {
	if err := s.validate(from, p); err != nil {
		return ahp.None{}, err
	}
	if p.ActiveClient != nil {
		cleaned, _ := clean(ActiveClientSet{ActiveClient: *p.ActiveClient})
		set := cleaned.(ActiveClientSet)
		p.ActiveClient = &set.ActiveClient
	}
	e := entry{creator: from.Token}
	if from.Caps.Has(ahp.CapabilityChat) {
		e.eager.client = from.ClientID
	}
	return ahp.None{}, s.make(ctx, p.Channel, s.newState("New Session", p.WorkingDirectory), p.ActiveClient, e)
}

var errExists = ahp.Errorf(ahp.CodeSessionExists, "session already exists")

// make reserves a session's URI, commits the session, and publishes it. made says who
// made it.
func (s *Service) make(ctx context.Context, uri string, st State, client *SessionActiveClient, made entry) error {
	now := s.catalog.now()
	e := &entry{id: s.newID(), created: now, modified: now, creator: made.creator, eager: made.eager}
	err := s.locked(func(tx *channels.ReadTx) error { return s.catalog.reserve(tx, uri) })
	if err != nil {
		return err
	}
	if err = s.keeper.add(ctx, uri, e, st, client); err != nil {
		s.log.View(func(*channels.ReadTx) { s.catalog.release(uri) })
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
	s.log.View(func(*channels.ReadTx) { published = s.catalog.sessions[uri] == e })
	if published {
		return
	}
	s.keeper.discard(ctx, uri)
	s.log.View(func(*channels.ReadTx) { s.catalog.release(uri) })
}

// locked runs fn with the log locked and returns its error. It is for checks and for
// changes of the service's own fields.
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
	case strings.ContainsFunc(p.Channel, unicode.IsControl): // they separate the parts of a mark
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
		err := p.ActiveClient.fits()
		if err == nil && !s.memory.Fits(budget.State, int64(p.ActiveClient.size())) {
			return ahp.Errorf(ahp.CodePermissionDenied, "createSession: %v", budget.ErrFull)
		}
		if err == nil {
			err = s.vet(*p.ActiveClient)
		}
		if err != nil {
			return ahp.Errorf(ahp.CodeInvalidParams, "createSession: /activeClient: %v", err)
		}
	}
	return nil
}

// check calls Options.Vet for the declarations of an active client.
func (s *Service) check(_ *channels.Subscriber, a ahp.Action) error {
	if set, ok := a.(ActiveClientSet); ok {
		if err := set.ActiveClient.fits(); err != nil {
			return err
		}
		return s.vet(set.ActiveClient)
	}
	return nil
}

// changed is called for every change of a session's state, in its transaction.
func (s *Service) changed(tx *channels.Tx, uri string, before, now State, a ahp.Action) {
	if !sameEntries(before.ActiveClients, now.ActiveClients) {
		s.memory.Add(budget.State, clientsSize(now.ActiveClients)-clientsSize(before.ActiveClients))
	}
	if s.after != nil {
		s.after(tx, uri, before, now)
	}
	s.useFor(uri, now, a)
	s.catalog.announce(tx, uri, before, now)
	s.keeper.markChanged(uri, a)
}

// maxPath is the largest size of a session's working directory, in bytes.
const maxPath = 4096

// create creates a session's channel and announces it.
func (s *Service) create(tx *channels.Tx, uri string, e *entry, st State) error {
	if s.prepare != nil {
		st = s.prepare(tx, uri, st)
	}
	if err := tx.Create(uri, "", st); err != nil {
		return err
	}
	return s.catalog.add(tx, uri, e, st)
}

// DisposeSession handles the request of that name. It closes the session's canvases,
// commits the removal, and then removes the session. If the commit fails, the session is
// not removed.
func (s *Service) DisposeSession(ctx context.Context, from *channels.Subscriber, p ahp.ChannelParams) (ahp.None, error) {
	return ahp.None{}, s.disposeOf(ctx, p.Channel, func(*entry) error { return s.catalog.mayDispose(from, p.Channel) })
}

// disposeOf disposes of a session if may allows it, which is called under the log's lock.
func (s *Service) disposeOf(ctx context.Context, uri string, may func(*entry) error) error {
	var e *entry
	err := s.locked(func(*channels.ReadTx) error {
		if e = s.catalog.sessions[uri]; e == nil || e.ending {
			return ahp.ErrSessionNotFound
		}
		if err := may(e); err != nil {
			return err
		}
		e.ending = true
		return nil
	})
	if err != nil {
		return err
	}
	after, ended := s.end(ctx, uri, e)
	err = s.log.Update(func(tx *channels.Tx) error {
		after(tx, ended == nil)
		if ended != nil {
			return ended
		}
		if now := stateOf(&tx.ReadTx, uri); now != nil {
			s.memory.Add(budget.State, -clientsSize(now.ActiveClients))
		}
		tx.Remove(uri)
		return s.catalog.remove(tx, uri)
	})
	if err != nil {
		s.log.View(func(*channels.ReadTx) { e.ending = false })
	}
	return cmp.Or(ended, err)
}

// end closes a session's canvases and commits its removal, even if the caller cancels.
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
	return after, s.keeper.remove(ctx, uri, e)
}

// Shutdown commits the records that are still marked. No session may change after it.
func (s *Service) Shutdown(ctx context.Context) error { return s.keeper.records.Flush(ctx) }

// ResolveSessionConfig handles the request of that name. Sessions of this host have no
// config.
func (s *Service) ResolveSessionConfig(context.Context, *channels.Subscriber, ResolveSessionConfigParams) (ResolveSessionConfigResult, error) {
	return ResolveSessionConfigResult{
		Schema: ConfigSchema{Type: "object", Properties: map[string]ahp.Value{}},
		Values: map[string]ahp.Value{},
	}, nil
}

// SessionConfigCompletions handles the request of that name. There is nothing to complete.
func (s *Service) SessionConfigCompletions(context.Context, *channels.Subscriber, SessionConfigCompletionsParams) (CompletionsResult, error) {
	return CompletionsResult{Items: []ahp.Value{}}, nil
}
