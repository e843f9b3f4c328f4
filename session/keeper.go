package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// The records of a session. The creation and the removal of a session are committed
// before any client can see them; its state and its active clients are committed soon
// after a change. The keys of the latter contain the session's id, which is never reused:
// a record that is committed after the session was removed is an orphan, and the next
// start removes it.
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
	// Title and WorkingDirectory are those with which the session was created.
	Title            string  `json:"title"`
	WorkingDirectory *string `json:"workingDirectory,omitzero"`
	// Creator identifies the token that created the session, which may dispose of it.
	Creator string `json:"creator,omitzero"`
	// Eager is the client of a session that was eager when it was created.
	Eager string `json:"eager,omitzero"`
}

// stateRecord is a session's state without its clients and canvases, which have separate
// records.
type stateRecord struct {
	Modified time.Time `json:"modified"`
	State    State     `json:"state"`
	// Used says that the session is eager no more.
	Used bool `json:"used,omitzero"`
}

// clientRecord is an active client with its capabilities. Its declarations depend on
// them, even before it has reconnected.
type clientRecord struct {
	Client       SessionActiveClient `json:"client"`
	Capabilities ahp.Capabilities    `json:"capabilities"`
	// Token identifies the token that the client used, without disclosing it; "" in a
	// record of an earlier version.
	Token string `json:"token,omitzero"`
}

// keeper keeps the sessions of the catalog in the store.
type keeper struct {
	log     *channels.Log
	catalog *catalog
	store   channels.Store
	records *channels.WriteBehind
	caps    func(clientID string) ahp.Capabilities
	token   func(clientID string) string
	logger  *slog.Logger
}

func newKeeper(opts Options, c *catalog) *keeper {
	k := &keeper{log: opts.Log, catalog: c, store: opts.Store, caps: opts.Capabilities, token: opts.Token, logger: opts.Logger}
	k.records = channels.NewWriteBehind(k.store, k.collect, k.logger)
	return k
}

func (k *keeper) clientChange(e *entry, c SessionActiveClient) channels.Change {
	return channels.Change{Key: clientKey + e.id + "/" + c.ClientID, Value: ahp.MustMarshal(clientRecord{c, k.caps(c.ClientID), k.token(c.ClientID)})}
}

// add commits the record of a new session.
func (k *keeper) add(ctx context.Context, uri string, e *entry, st State, client *SessionActiveClient) error {
	changes := []channels.Change{{Key: sessionKey + uri, Value: ahp.MustMarshal(sessionRecord{
		ID: e.id, Created: e.created, Title: st.Title, WorkingDirectory: st.WorkingDirectory, Creator: e.creator, Eager: e.eager.client,
	})}}
	if client != nil {
		changes = append(changes, k.clientChange(e, *client))
	}
	return refused(k.store.Commit(ctx, changes...))
}

// remove deletes the records of a session.
func (k *keeper) remove(ctx context.Context, uri string, e *entry) error {
	changes := []channels.Change{{Key: sessionKey + uri, Delete: true}, {Key: stateKey + e.id, Delete: true}}
	if state, ok := k.log.State(uri); ok {
		for _, c := range state.(State).ActiveClients {
			changes = append(changes, channels.Change{Key: clientKey + e.id + "/" + c.ClientID, Delete: true})
		}
	}
	if err := k.store.Commit(ctx, changes...); err != nil {
		return stays(fmt.Errorf("the host could not store its removal: %w", err))
	}
	return nil
}

// discard deletes the record of a session that was committed and could not be
// published.
func (k *keeper) discard(ctx context.Context, uri string) {
	err := k.store.Commit(context.WithoutCancel(ctx), channels.Change{Key: sessionKey + uri, Delete: true})
	if err != nil {
		k.logger.Error("record of an unpublished session not removed", "channel", uri, "err", err)
	}
}

// refused is the error of a request that has changed nothing, or nothing that is known.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, channels.ErrStoreBroken) {
		return ahp.Errorf(ahp.CodeInternal, "it is not known whether this was changed, because the host could not store it: %v", err)
	}
	return ahp.Errorf(ahp.CodeInternal, "nothing was changed, because the host could not store it: %v", err)
}

// stays is the error of a disposal that failed after canvases might have been closed.
func stays(err error) error {
	return ahp.Errorf(ahp.CodeInternal, "the session still exists, but canvases in it might be closed: %v", err)
}

// markChanged marks the record that an action has put out of date. It is called under
// the log's lock.
func (k *keeper) markChanged(uri string, a ahp.Action) {
	if k.catalog.sessions[uri] == nil {
		return
	}
	switch a := a.(type) {
	case CanvasesChanged, OpenCanvasesChanged: // the canvas engine keeps them
	case ActiveClientSet:
		k.records.Mark(clientKey + uri + "\x00" + a.ActiveClient.ClientID)
	case ActiveClientRemoved:
		k.records.Mark(clientKey + uri + "\x00" + a.ClientID)
	default:
		k.records.Mark(stateKey + uri)
	}
}

// collect returns the changes that bring the marked records up to date.
//
// They are collected under the log's lock and encoded without it.
func (k *keeper) collect(marks []string) []channels.Change {
	var found []record
	k.log.View(func(tx *channels.ReadTx) {
		for _, mark := range marks {
			if rest, ok := strings.CutPrefix(mark, clientKey); ok {
				uri, id, _ := strings.Cut(rest, "\x00")
				found = k.collectClient(tx, found, uri, id)
				continue
			}
			found = k.collectState(tx, found, strings.TrimPrefix(mark, stateKey))
		}
	})
	changes := make([]channels.Change, 0, len(found))
	for _, r := range found {
		c := channels.Change{Key: r.key, Delete: r.value == nil}
		if r.value != nil {
			c.Value = ahp.MustMarshal(r.value)
		}
		changes = append(changes, c)
	}
	return changes
}

// record is a record that is not encoded yet; a nil value deletes it.
type record struct {
	key   string
	value any
}

func (k *keeper) collectState(tx *channels.ReadTx, found []record, uri string) []record {
	e, state := k.catalog.sessions[uri], stateOf(tx, uri)
	if e == nil || state == nil {
		return found
	}
	st := *state
	st.Canvases, st.OpenCanvases, st.ActiveClients = nil, nil, []SessionActiveClient{}
	return append(found, record{stateKey + e.id, stateRecord{e.modified, st, e.eager.client == ""}})
}

func (k *keeper) collectClient(tx *channels.ReadTx, found []record, uri, id string) []record {
	e, state := k.catalog.sessions[uri], stateOf(tx, uri)
	if e == nil || state == nil {
		return found
	}
	at := slices.IndexFunc(state.ActiveClients, func(c SessionActiveClient) bool { return c.ClientID == id })
	if at < 0 {
		return append(found, record{clientKey + e.id + "/" + id, nil})
	}
	c := state.ActiveClients[at]
	return append(found, record{clientKey + e.id + "/" + c.ClientID, clientRecord{c, k.caps(c.ClientID), k.token(c.ClientID)}})
}

func stateOf(tx *channels.ReadTx, uri string) *State {
	state, _ := tx.State(uri)
	if st, ok := state.(State); ok {
		return &st
	}
	return nil
}
