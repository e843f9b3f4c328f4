package aam

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// The states of an [Intent].
const (
	StateIntended = "intended" // not signed yet
	StateSigned   = "signed"   // signed, and perhaps sent
	StatePaid     = "paid"     // the site has answered
	StateRefused  = "refused"  // the site has refused it; it could still collect it
	StateUnknown  = "unknown"  // the answer was lost, or the process ended in between
)

// Intent is one payment, from before it is signed.
type Intent struct {
	// Call is the call that it pays. A call is paid for once.
	Call string `json:"call"`
	// Site is the site that is paid.
	Site string `json:"site"`
	// Action is what is paid for.
	Action string `json:"action"`
	// Amount is how much, in base units.
	Amount x402.Amount `json:"amount"`
	// Network is where.
	Network string `json:"network"`
	// From pays.
	From x402.Address `json:"from"`
	// To is paid.
	To x402.Address `json:"to"`
	// Nonce is the authorization's.
	Nonce x402.Word `json:"nonce"`
	// Time is when it was intended.
	Time time.Time `json:"time"`
	// State is one of the constants of this package.
	State string `json:"state"`
	// Read reports that a person has seen that the outcome is not known.
	Read bool `json:"read,omitzero"`
}

// Budget is what a site may be paid without a person's approval of each payment.
type Budget struct {
	// Call is the most for one call.
	Call x402.Amount `json:"call"`
	// Day is the most for one day, UTC.
	Day x402.Amount `json:"day"`
}

// maxIntents is how many payments a ledger keeps; settled ones that are older go first.
const maxIntents = 2000

// Ledger keeps payments and budgets in one file, or in memory.
type Ledger struct {
	path string
	now  func() time.Time

	mu sync.Mutex
	l  ledgerFile
}

// ledgerFile is the file of a ledger.
type ledgerFile struct {
	Intents []Intent          `json:"payments,omitzero"`
	Budgets map[string]Budget `json:"budgets,omitzero"`
}

// NewLedger returns a ledger in memory. A nil clock is time.Now.
func NewLedger(now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{now: now}
}

// OpenLedger opens the ledger in a file, which need not exist. Payments whose answer was
// not there when the process ended are unknown now.
func OpenLedger(path string, now func() time.Time) (*Ledger, error) {
	l := NewLedger(now)
	l.path = path
	raw, err := readFile(path)
	if err != nil || raw == nil {
		return l, err
	}
	if err := ahp.Unmarshal(raw, &l.l); err != nil {
		return nil, errors.New("the file with the payments is damaged")
	}
	for i := range l.l.Intents {
		if s := &l.l.Intents[i].State; *s == StateIntended || *s == StateSigned {
			*s = StateUnknown
		}
	}
	return l, nil
}

// change does something to a copy, which is kept when it is on the disk.
func (l *Ledger) change(do func(*ledgerFile) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := ledgerFile{slices.Clone(l.l.Intents), maps.Clone(l.l.Budgets)}
	if err := do(&next); err != nil {
		return err
	}
	if l.path != "" && durable.Replace(l.path, ahp.MustMarshal(next)) != nil {
		return diskFailed("the payment")
	}
	l.l = next
	return nil
}

// SetBudget sets the budget of a site. A zero budget removes it.
func (l *Ledger) SetBudget(site string, b Budget) error {
	return l.change(func(f *ledgerFile) error {
		if b == (Budget{}) {
			delete(f.Budgets, site)
			return nil
		}
		if f.Budgets == nil {
			f.Budgets = map[string]Budget{}
		}
		f.Budgets[site] = b
		return nil
	})
}

// Budget returns the budget of a site, and what of today's is spent.
func (l *Ledger) Budget(site string) (b Budget, spent x402.Amount, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok = l.l.Budgets[site]
	return b, l.l.spent(site, l.now()), ok
}

// spent sums what a site was promised on a day.
func (f *ledgerFile) spent(site string, now time.Time) (sum x402.Amount) {
	day := now.UTC().Format(time.DateOnly)
	for _, p := range f.Intents {
		if p.Site == site && p.Time.UTC().Format(time.DateOnly) == day {
			sum, _ = sum.Add(p.Amount) // amounts of a day are below 2^256
		}
	}
	return sum
}

// covers reports whether a site's budget has an amount left. While the outcome of a payment
// to the site is not known, it has not: the next one could be the same once more.
func (f *ledgerFile) covers(site string, amount x402.Amount, now time.Time) bool {
	b, ok := f.Budgets[site]
	if !ok || amount.Cmp(b.Call) > 0 {
		return false
	}
	for _, p := range f.Intents {
		if p.Site == site && p.State == StateUnknown && !p.Read {
			return false
		}
	}
	sum, fits := f.spent(site, now).Add(amount)
	return fits && sum.Cmp(b.Day) <= 0
}

// Covers reports whether a payment is within the site's budget now. Begin checks it again.
func (l *Ledger) Covers(site string, amount x402.Amount) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.l.covers(site, amount, l.now())
}

// ErrBudget is the error of a payment that no budget covers.
var ErrBudget = errors.New("the payment is not within a budget")

// Begin puts a payment into the ledger. With budget, it must be within the site's; of
// parallel callers, as many succeed as the budget covers. When it returns, the payment is
// on the disk, and the call is never paid for again.
func (l *Ledger) Begin(p Intent, budget bool) error {
	p.State, p.Time = StateIntended, l.now()
	return l.change(func(f *ledgerFile) error {
		if slices.ContainsFunc(f.Intents, func(o Intent) bool { return o.Call == p.Call || o.Nonce == p.Nonce }) {
			return errorf(CodePaymentInvalid, "", "the call was paid for before")
		}
		if budget && !f.covers(p.Site, p.Amount, p.Time) {
			return ErrBudget
		}
		if len(f.Intents) >= maxIntents {
			i := slices.IndexFunc(f.Intents, func(o Intent) bool { return o.State != StateUnknown || o.Read })
			if i < 0 {
				return fmt.Errorf("the outcome of %d payments is not known", maxIntents)
			}
			f.Intents = slices.Delete(f.Intents, i, i+1)
		}
		f.Intents = append(f.Intents, p)
		return nil
	})
}

// Cancel removes a payment that was not signed.
func (l *Ledger) Cancel(call string) error {
	return l.change(func(f *ledgerFile) error {
		f.Intents = slices.DeleteFunc(f.Intents, func(o Intent) bool { return o.Call == call && o.State == StateIntended })
		return nil
	})
}

// set changes the state of a payment.
func (l *Ledger) set(call, state string) error {
	return l.change(func(f *ledgerFile) error {
		for i := range f.Intents {
			if f.Intents[i].Call == call {
				f.Intents[i].State = state
			}
		}
		return nil
	})
}

// MarkRead records that a person has seen the payments to a site whose outcome is not
// known.
func (l *Ledger) MarkRead(site string) error {
	return l.change(func(f *ledgerFile) error {
		for i := range f.Intents {
			if f.Intents[i].Site == site && f.Intents[i].State == StateUnknown {
				f.Intents[i].Read = true
			}
		}
		return nil
	})
}

// Unknown returns the payments to a site whose outcome is not known, and that no person
// has read.
func (l *Ledger) Unknown(site string) (list []Intent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.l.Intents {
		if p.Site == site && p.State == StateUnknown && !p.Read {
			list = append(list, p)
		}
	}
	return list
}

// Payment returns the payment of a call.
func (l *Ledger) Payment(call string) (Intent, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.l.Intents, func(o Intent) bool { return o.Call == call })
	if i < 0 {
		return Intent{}, false
	}
	return l.l.Intents[i], true
}
