package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// The records of a session. That it exists is committed before anybody hears of
// it, and so is its end; what it shows and who takes part in it follows soon. The
// latter two are named after the session's id, which is never used again: what
// comes late belongs to nobody and is swept at the next start.
//
//	session/<uri>              sessionRecord
//	session-state/<id>         stateRecord
//	session-client/<id>/<cid>  clientRecord
const (
	sessionKey = "session/"
	stateKey   = "session-state/"
	clientKey  = "session-client/"
)

type sessionRecord struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Title   string    `json:"title"`
	// WorkingDirectory and Title are what it was created with.
	WorkingDirectory *string `json:"workingDirectory,omitzero"`
}

// stateRecord is a session's state without what others keep: its clients have
// records of their own, its canvases their provider's.
type stateRecord struct {
	Modified time.Time `json:"modified"`
	State    State     `json:"state"`
}

// clientRecord is an active client with what it can do: what a client declares
// counts by that, also before it is back.
type clientRecord struct {
	Client       SessionActiveClient `json:"client"`
	Capabilities ahp.Capabilities    `json:"capabilities"`
}

func (s *Service) clientChange(e *entry, c SessionActiveClient) channels.Change {
	return channels.Change{Key: clientKey + e.id + "/" + c.ClientID, Value: ahp.MustMarshal(clientRecord{c, s.caps(c.ClientID)})}
}

// keepNew makes a session durable before it is visible.
func (s *Service) keepNew(ctx context.Context, uri string, e *entry, st State, client *SessionActiveClient) error {
	changes := []channels.Change{{Key: sessionKey + uri, Value: ahp.MustMarshal(sessionRecord{
		ID: e.id, Created: e.created, Title: st.Title, WorkingDirectory: st.WorkingDirectory,
	})}}
	if client != nil {
		changes = append(changes, s.clientChange(e, *client))
	}
	return refused(s.store.Commit(ctx, changes...))
}

// keepGone makes a session's end durable before it is visible.
func (s *Service) keepGone(ctx context.Context, uri string, e *entry) error {
	changes := []channels.Change{{Key: sessionKey + uri, Delete: true}, {Key: stateKey + e.id, Delete: true}}
	if state, ok := s.log.State(uri); ok {
		for _, c := range state.(State).ActiveClients {
			changes = append(changes, channels.Change{Key: clientKey + e.id + "/" + c.ClientID, Delete: true})
		}
	}
	if err := s.store.Commit(ctx, changes...); err != nil {
		return stays(fmt.Errorf("the host could not keep its end: %w", err))
	}
	return nil
}

// refused tells a client why nothing happened.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return ahp.Errorf(ahp.CodeInternal, "nothing was changed, because the host could not store it: %v", err)
}

// stays tells a client why a session is still there. What lived in it may have ended.
func stays(err error) error {
	return ahp.Errorf(ahp.CodeInternal, "the session is still there, though canvases in it may be closed: %v", err)
}

// markChanged notes which of a session's records an action put out of date. It
// runs under the log's lock.
func (s *Service) markChanged(uri string, a ahp.Action) {
	if s.sessions[uri] == nil {
		return
	}
	switch a := a.(type) {
	case CanvasesChanged, OpenCanvasesChanged: // kept by whoever opens canvases
	case ActiveClientSet:
		s.behind.Mark(clientKey + uri + "\x00" + a.ActiveClient.ClientID)
	case ActiveClientRemoved:
		s.behind.Mark(clientKey + uri + "\x00" + a.ClientID)
	default:
		s.behind.Mark(stateKey + uri)
	}
}

// collect brings marked records up to date, in one look at the log.
func (s *Service) collect(marks []string) (changes []channels.Change) {
	s.log.View(func(tx *channels.ReadTx) {
		for _, mark := range marks {
			if rest, ok := strings.CutPrefix(mark, clientKey); ok {
				uri, id, _ := strings.Cut(rest, "\x00")
				changes = s.collectClient(tx, changes, uri, id)
				continue
			}
			changes = s.collectState(tx, changes, strings.TrimPrefix(mark, stateKey))
		}
	})
	return changes
}

func (s *Service) collectState(tx *channels.ReadTx, changes []channels.Change, uri string) []channels.Change {
	e, state := s.sessions[uri], stateOf(tx, uri)
	if e == nil || state == nil {
		return changes
	}
	st := *state
	st.Canvases, st.OpenCanvases, st.ActiveClients = nil, nil, []SessionActiveClient{}
	return append(changes, channels.Change{Key: stateKey + e.id, Value: ahp.MustMarshal(stateRecord{e.modified, st})})
}

func (s *Service) collectClient(tx *channels.ReadTx, changes []channels.Change, uri, id string) []channels.Change {
	e, state := s.sessions[uri], stateOf(tx, uri)
	if e == nil || state == nil {
		return changes
	}
	at := slices.IndexFunc(state.ActiveClients, func(c SessionActiveClient) bool { return c.ClientID == id })
	if at < 0 {
		return append(changes, channels.Change{Key: clientKey + e.id + "/" + id, Delete: true})
	}
	return append(changes, s.clientChange(e, state.ActiveClients[at]))
}

func stateOf(tx *channels.ReadTx, uri string) *State {
	state, _ := tx.State(uri)
	if st, ok := state.(State); ok {
		return &st
	}
	return nil
}

// Shutdown commits what is still to be committed. Nothing changes after it.
func (s *Service) Shutdown(ctx context.Context) error { return s.behind.Flush(ctx) }
