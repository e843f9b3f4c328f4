package site

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Row is one call in the audit. It has no address, no parameters and no person's name.
type Row struct {
	// ID names the row. IDs sort by time.
	ID string `json:"id"`
	// Time is when the call came.
	Time time.Time `json:"ts"`
	// Tenant is the site's domain.
	Tenant string `json:"tenant_slug"`
	// Action is the action's id.
	Action string `json:"action_id"`
	// Kind is "free" or "paid".
	Kind string `json:"action_kind"`
	// Vendor is whose agent called; without a credential it is a claim.
	Vendor string `json:"agent_vendor"`
	// User is the SHA-256 of the user, in hex; "" if there is none.
	User string `json:"user_hash"`
	// Scopes are the actions or scopes that permitted the call.
	Scopes []string `json:"scopes_used"`
	// Result is "ok", or the code of what went wrong. "unknown" means that the host ended
	// while the action ran.
	Result string `json:"result"`
	// Status is the HTTP status of the answer.
	Status int `json:"status"`
	// Latency is how long the call took, in milliseconds.
	Latency int64 `json:"latency_ms"`
	// Payment is what was paid.
	Payment *RowPayment `json:"payment,omitzero"`
	// RunID is the agent's name for the call, or the site's.
	RunID string `json:"run_id"`
}

// RowPayment is a payment in the audit.
type RowPayment struct {
	// Scheme is the pricing type, or "ignored" if the action is free.
	Scheme string `json:"scheme"`
	// Network is where the money is.
	Network string `json:"network,omitzero"`
	// Amount is in base units.
	Amount string `json:"amount,omitzero"`
	// Payer is whose money it is.
	Payer string `json:"payer,omitzero"`
	// Transaction names the transfer; "" if the payment was not collected.
	Transaction string `json:"tx_hash,omitzero"`
}

const (
	resultOK      = "ok"
	resultUnknown = "unknown"
	auditAge      = 90 * 24 * time.Hour
	strangerRows  = 10 // a tenth of the audit is for calls without a credential
	flushEvery    = time.Second
	idTime        = "20060102T150405.000000000" // in the id of a row
)

// userHash is how a user stands in the audit.
func userHash(user string) string {
	if user == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:])
}

// newID returns an id for a row. IDs sort by time, also in the same nanosecond.
func (a *audit) newID(t time.Time) string {
	a.mu.Lock()
	if !t.After(a.last) {
		t = a.last.Add(1)
	}
	a.last = t
	a.mu.Unlock()
	return "evt_" + t.UTC().Format(idTime) + "_" + strings.ToLower(rand.Text()[:6])
}

func rowChange(r Row) Change { return Change{"row/" + r.ID, ahp.MustMarshal(r)} }

// audit has the newest rows. Calls without a credential have a separate share, so
// strangers cannot push the others out.
type audit struct {
	mu        sync.Mutex
	known     []entry // the oldest first
	strangers []entry
	limit     int
	last      time.Time // of the newest id

	journal *journal
	changed func()
	logger  *slog.Logger
	kick    chan struct{}
	done    chan struct{}
	wait    sync.WaitGroup
}

// entry is a row of the audit. One that was loaded is decoded when it is read: a site with
// many rows must not start slowly.
type entry struct {
	id  string
	row *Row   // nil until it is decoded
	raw []byte // its record, until then
}

// get returns the row, and false if its record is damaged.
func (e *entry) get() (Row, bool) {
	if e.row == nil {
		row := new(Row)
		if ahp.Unmarshal(e.raw, row) != nil {
			return Row{}, false
		}
		e.row, e.raw = row, nil
	}
	return *e.row, true
}

// time returns when the call came: the id has it.
func (e *entry) time() time.Time {
	if len(e.id) > len("evt_"+idTime) {
		if t, err := time.Parse(idTime, e.id[len("evt_"):len("evt_"+idTime)]); err == nil {
			return t
		}
	}
	r, _ := e.get()
	return r.Time
}

// noUser is how the row of a call without a credential is encoded.
var noUser = []byte(`"user_hash":""`)

func (a *audit) load(id string, value []byte) {
	e := entry{id: id, raw: value}
	if bytes.Contains(value, noUser) {
		a.strangers = append(a.strangers, e)
	} else {
		a.known = append(a.known, e)
	}
}

// loaded sorts the rows, and removes those that are too old. IDs sort by time, so it reads
// the times of the old rows and of one more.
func (a *audit) loaded(now time.Time, limit int, j *journal) {
	a.limit, a.journal = limit, j
	for _, rows := range []*[]entry{&a.known, &a.strangers} {
		slices.SortFunc(*rows, func(x, y entry) int { return strings.Compare(x.id, y.id) })
		for len(*rows) > 0 && now.Sub((*rows)[0].time()) > auditAge {
			j.add(Change{"row/" + (*rows)[0].id, nil})
			*rows = (*rows)[1:]
		}
	}
}

// start begins to write rows in the background, so that a call waits for one commit.
func (a *audit) start(j *journal, changed func(), logger *slog.Logger) {
	a.journal, a.changed, a.logger = j, changed, logger
	a.kick, a.done = make(chan struct{}, 1), make(chan struct{})
	a.wait.Go(a.run)
}

func (a *audit) run() {
	for {
		select {
		case <-a.kick:
		case <-a.done:
			return
		}
		if err := a.journal.commit(a.journal.add()); err != nil {
			a.logger.Error("aam: rows of the audit were not saved", "err", err)
		}
		pause := time.NewTimer(flushEvery)
		select {
		case <-pause.C:
		case <-a.done:
			pause.Stop()
			return
		}
	}
}

var errStopped = errors.New("the site was closed already")

func (a *audit) stop() error {
	select {
	case <-a.done:
		return errStopped
	default:
	}
	close(a.done)
	a.wait.Wait()
	return nil
}

// put adds the row of a call that has ended.
func (a *audit) put(r Row) {
	a.mu.Lock()
	rows, limit := &a.known, a.limit
	if r.User == "" {
		rows, limit = &a.strangers, max(a.limit/strangerRows, 1)
	}
	changes := []Change{rowChange(r)}
	*rows = append(*rows, entry{id: r.ID, row: &r})
	for len(*rows) > limit {
		changes = append(changes, Change{"row/" + (*rows)[0].id, nil})
		*rows = (*rows)[1:]
	}
	a.journal.add(changes...)
	a.mu.Unlock()
	select {
	case a.kick <- struct{}{}:
	default:
	}
	a.changed()
}

// Audit returns up to n rows after the one with the id after, or the first ones; 0 returns
// all.
func (s *Site) Audit(after string, n int) []Row {
	rows := s.audit.list(math.MaxInt)
	if from := slices.IndexFunc(rows, func(r Row) bool { return r.ID > after }); from > 0 {
		rows = rows[from:]
	} else if from < 0 {
		rows = nil
	}
	if n > 0 && len(rows) > n {
		rows = rows[:n]
	}
	return rows
}

// list returns the rows of the last n calls that ended with a credential, and of the last n
// without one, sorted by id.
func (a *audit) list(n int) (rows []Row) {
	a.mu.Lock()
	for _, entries := range [][]entry{a.known, a.strangers} {
		for k := max(len(entries)-n, 0); k < len(entries); k++ {
			if r, ok := entries[k].get(); ok {
				rows = append(rows, r)
			}
		}
	}
	a.mu.Unlock()
	slices.SortFunc(rows, func(x, y Row) int { return strings.Compare(x.ID, y.ID) })
	return rows
}

// Newest returns the newest rows, the newest first.
func (s *Site) Newest(n int) []Row {
	rows := s.audit.list(n + s.limits.Calls) // a call that began early can have ended late
	slices.Reverse(rows)
	return rows[:min(n, len(rows))]
}

// hashedUser is how a caller stands in the audit. The user of an AAM ID is a hash already.
func (c caller) hashedUser() string {
	if c.person != "" {
		return c.user
	}
	return userHash(c.user)
}
