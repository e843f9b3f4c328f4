package session

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// timestamp formats a time as ISO 8601 in UTC with milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *Service) summary(uri string, st State) SessionSummary {
	e := s.sessions[uri]
	return SessionSummary{
		Resource: uri, Provider: st.Provider, Title: st.Title, Status: st.Status, Activity: st.Activity,
		Project: st.Project, WorkingDirectory: st.WorkingDirectory, Annotations: st.Annotations,
		CreatedAt: timestamp(e.created), ModifiedAt: timestamp(e.modified),
	}
}

// changed is called for every change of a session's state, in its transaction.
func (s *Service) changed(tx *channels.Tx, uri string, before, now State, a ahp.Action) {
	if s.after != nil {
		s.after(tx, uri, before, now)
	}
	s.announce(tx, uri, before, now)
	s.markChanged(uri, a)
}

// announce notifies the subscribers of the root channel of the summary's members that
// changed, and of the time (ahp/PROTOCOL.md section 4).
func (s *Service) announce(tx *channels.Tx, uri string, before, now State) {
	e := s.sessions[uri]
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
	e.modified, e.order = s.now(), tx.Seq()
	changes.ModifiedAt = ahp.Set(timestamp(e.modified))
	tx.Notify(ahp.RootURI, SessionSummaryChanged.Name, SessionSummaryChangedParams{
		Channel: ahp.RootURI, Session: uri, Changes: changes,
	})
}

// difference returns an absent field if nothing changed, null if the value was cleared.
func difference[T comparable](before, now *T) ahp.Field[T] {
	switch {
	case before == nil && now == nil, before != nil && now != nil && *before == *now:
		return ahp.Field[T]{}
	case now == nil:
		return ahp.Clear[T]()
	}
	return ahp.Set(*now)
}
