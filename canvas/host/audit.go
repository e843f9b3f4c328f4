package host

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// maxAudit limits the entries that are kept in memory; older ones are only in the log.
const maxAudit = 4096

// maxAuditText limits a text of an entry that a client chose, in bytes.
const maxAuditText = 128

// AuditEntry says who did what. It has no payload, no token and no address.
type AuditEntry struct {
	// Time is when it happened, the last time if Count is above 1.
	Time time.Time `json:"time"`
	// Token is the name of the token, or its role if it has no name.
	Token string `json:"token"`
	// Client is the client id of the connection, "" for a caller without one.
	Client string `json:"client,omitzero"`
	// Method is the method, the type of the action, the MCP tool, or what was done with a
	// token.
	Method string `json:"method"`
	// Target is the channel, the instance or the token.
	Target string `json:"target,omitzero"`
	// Outcome is "ok", "failed", or the code of the refusal.
	Outcome string `json:"outcome"`
	// Count is how often the same connection did the same in a row.
	Count int `json:"count"`

	conn channels.ConnID
}

// audit keeps the newest entries and writes each new one to the log.
type audit struct {
	now    func() time.Time
	logger *slog.Logger

	mu      sync.Mutex
	entries []AuditEntry // a ring
	next    int          // where the next entry goes, once the ring is full
	last    map[channels.ConnID]int
}

func newAudit(o *Options) *audit {
	return &audit{now: o.Now, logger: o.Logger, entries: make([]AuditEntry, 0, maxAudit), last: map[channels.ConnID]int{}}
}

// add adds an entry. One that repeats the newest entry of its connection is counted there,
// so that a stream of messages is one entry.
func (a *audit) add(e AuditEntry) {
	e.Time, e.Count = a.now().UTC(), 1
	e.Target, e.Client = short(e.Target), short(e.Client)
	if a.repeat(e) {
		return
	}
	a.logger.Info("audit", "token", e.Token, "client", e.Client, "method", e.Method, "target", e.Target, "outcome", e.Outcome)
}

// repeat puts an entry into the ring. It reports whether the entry was counted in an
// earlier one.
func (a *audit) repeat(e AuditEntry) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.last[e.conn]; ok && e.conn != 0 {
		if l := &a.entries[at]; l.conn == e.conn && l.Method == e.Method && l.Target == e.Target && l.Outcome == e.Outcome {
			l.Count++
			l.Time = e.Time
			return true
		}
	}
	at := a.next
	if len(a.entries) < maxAudit {
		at = len(a.entries)
		a.entries = append(a.entries, e)
	} else {
		if old := a.entries[at]; a.last[old.conn] == at {
			delete(a.last, old.conn)
		}
		a.entries[at] = e
		a.next = (at + 1) % maxAudit
	}
	a.last[e.conn] = at
	return false
}

// list returns the entries, the oldest first.
func (a *audit) list() []AuditEntry {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append(append([]AuditEntry{}, a.entries[a.next:]...), a.entries[:a.next]...)
}

// act adds what a connection did.
func (a *audit) act(act server.Act) {
	name := act.Grant.Name
	if name == "" {
		name = act.Grant.Role
	}
	a.add(AuditEntry{Token: name, Client: act.ClientID, Method: act.Method, Target: act.Target, Outcome: outcome(act.Err), conn: act.Conn})
}

// tool adds what an agent did.
func (a *audit) tool(_ context.Context, name, target string, err error) {
	a.add(AuditEntry{Token: RoleAgent, Method: name, Target: target, Outcome: outcome(err)})
}

// token adds what was done with a token.
func (a *audit) token(who, did, target string, err error) {
	a.add(AuditEntry{Token: who, Method: did, Target: target, Outcome: outcome(err)})
}

// outcome returns the code of an error. The text could repeat a payload.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if _, ok := errors.AsType[*access.Denial](err); ok {
		return access.CodeRoleRequired
	}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return short(e.Code)
	}
	if e, ok := errors.AsType[*ahp.Error](err); ok && ahp.Codes[e.Code] != "" {
		return ahp.Codes[e.Code]
	}
	return "failed"
}

func short(s string) string {
	if len(s) > maxAuditText {
		s = strings.ToValidUTF8(s[:maxAuditText], "")
	}
	return s
}

// Audit returns who did what: the newest entries, the oldest first. Each was also logged
// once, with the message "audit".
func (h *Host) Audit() []AuditEntry { return h.audit.list() }
