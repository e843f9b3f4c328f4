package budget

import "sync/atomic"

// Shared is memory that several connections hold together. The ledger counts it once,
// from the first Hold to the last Release; each account counts it too, so that the ledger
// knows whose end would free it. The zero value, and one without a ledger, count nothing.
type Shared struct {
	ledger  *Ledger
	kind    Kind
	holders atomic.Int32
	size    int64
}

// Init sets what the memory is, before its first use.
func (s *Shared) Init(l *Ledger, k Kind, size int64) { s.ledger, s.kind, s.size = l, k, size }

// Hold counts the memory for an account, which may be nil.
func (s *Shared) Hold(a *Account) {
	if s.ledger == nil {
		return
	}
	if s.holders.Add(1) == 1 {
		s.ledger.Add(s.kind, s.size)
	}
	if a != nil {
		a.note(s.size)
	}
}

// Release ends a Hold of the same account.
func (s *Shared) Release(a *Account) {
	if s.ledger == nil {
		return
	}
	if a != nil {
		a.note(-s.size)
	}
	if s.holders.Add(-1) == 0 {
		s.ledger.Add(s.kind, -s.size)
	}
}
