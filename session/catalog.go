package session

import (
	"maps"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// catalog lists the sessions of a host. The log's mutex guards it, so it is used in
// transactions only.
type catalog struct {
	now    func() time.Time
	limit  int
	memory *budget.Ledger

	sessions map[string]*entry // by URI
	making   map[string]bool   // URIs of sessions that are being committed
}

func newCatalog(now func() time.Time, limit int, memory *budget.Ledger) *catalog {
	return &catalog{now: now, limit: limit, memory: memory, sessions: map[string]*entry{}, making: map[string]bool{}}
}

// entry is a session in the catalog.
type entry struct {
	id                string // in the keys of its records
	created, modified time.Time
	order             int64 // of the last modification, for equal times
	ending            bool  // a disposal is in progress

	eager   eager
	creator string // the token that created the session; "" for the host's own
}

// reserve reserves the URI of a session that is about to be committed.
func (c *catalog) reserve(tx *channels.ReadTx, uri string) error {
	if _, ok := tx.State(uri); ok || c.making[uri] {
		return errExists
	}
	if len(c.sessions)+len(c.making) >= c.limit {
		return ahp.Errorf(ahp.CodePermissionDenied, "this host has %d sessions, which is its limit: dispose of one first", c.limit)
	}
	c.making[uri] = true
	return nil
}

// release releases a URI that was reserved.
func (c *catalog) release(uri string) { delete(c.making, uri) }

// add adds a session whose channel exists, and announces it.
func (c *catalog) add(tx *channels.Tx, uri string, e *entry, st State) error {
	e.order = tx.Seq()
	c.sessions[uri] = e
	c.release(uri)
	tx.Notify(ahp.RootURI, SessionAdded.Name, SessionAddedParams{Channel: ahp.RootURI, Summary: c.summary(uri, st)})
	return c.counted(tx)
}

// remove removes a session, and announces that.
func (c *catalog) remove(tx *channels.Tx, uri string) error {
	delete(c.sessions, uri)
	tx.Notify(ahp.RootURI, SessionRemoved.Name, SessionRemovedParams{Channel: ahp.RootURI, Session: uri})
	return c.counted(tx)
}

// counted publishes the number of sessions.
func (c *catalog) counted(tx *channels.Tx) error {
	return tx.Append(ahp.RootURI, ActiveSessionsChanged{ActiveSessions: int64(len(c.sessions))})
}

// row is a session in the answer of ListSessions.
type row struct {
	summary SessionSummary
	entry   entry
}

func (c *catalog) rows(tx *channels.ReadTx) []row {
	var rows []row
	for uri, e := range c.sessions {
		state, _ := tx.State(uri)
		rows = append(rows, row{c.summary(uri, state.(State)), *e})
	}
	return rows
}

func (c *catalog) summary(uri string, st State) SessionSummary {
	e := c.sessions[uri]
	return SessionSummary{
		Resource: uri, Provider: st.Provider, Title: st.Title, Status: st.Status, Activity: st.Activity,
		Project: st.Project, WorkingDirectory: st.WorkingDirectory, Annotations: st.Annotations,
		CreatedAt: Timestamp(e.created), ModifiedAt: Timestamp(e.modified),
	}
}

// announce notifies the subscribers of the root channel of the summary's members that
// changed, and of the time (ahp/PROTOCOL.md section 4).
func (c *catalog) announce(tx *channels.Tx, uri string, before, now State) {
	e := c.sessions[uri]
	if e == nil {
		return
	}
	changes := PartialSessionSummary{
		Title:            difference(&before.Title, &now.Title),
		Status:           difference(&before.Status, &now.Status),
		Activity:         difference(before.Activity, now.Activity),
		WorkingDirectory: difference(before.WorkingDirectory, now.WorkingDirectory),
	}
	if changes.Title.IsZero() && changes.Status.IsZero() && changes.Activity.IsZero() && changes.WorkingDirectory.IsZero() {
		return
	}
	e.modified, e.order = c.now(), tx.Seq()
	changes.ModifiedAt = ahp.Set(Timestamp(e.modified))
	tx.Notify(ahp.RootURI, SessionSummaryChanged.Name, SessionSummaryChangedParams{
		Channel: ahp.RootURI, Session: uri, Changes: changes,
	})
}

// activeIn returns the given sessions, or all for nil, in which a client is active,
// sorted. It runs at every reconnect, and usually returns few of them.
func (c *catalog) activeIn(tx *channels.ReadTx, clientID string, uris []string) (active []string) {
	among := slices.Values(uris)
	if uris == nil {
		among = maps.Keys(c.sessions)
	}
	for uri := range among {
		state, _ := tx.State(uri)
		st, _ := state.(State)
		if slices.ContainsFunc(st.ActiveClients, func(a SessionActiveClient) bool { return a.ClientID == clientID }) {
			active = append(active, uri)
		}
	}
	slices.Sort(active)
	return active
}
