package site

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// The states of a [Kept] payment.
const (
	StateSigned    = "signed"    // not collected
	StateCollected = "collected" // the facilitator executed it
	StateFailed    = "failed"    // the facilitator refused it, or it ended before
	StateUnknown   = "unknown"   // the facilitator did not answer
)

// Kept is a payment that is signed and collected in a batch. Until then the site has
// not been paid.
type Kept struct {
	// ID names the payment.
	ID string `json:"id"`
	// Time is when it was taken.
	Time time.Time `json:"time"`
	// Action is what it paid for.
	Action string `json:"action"`
	// Vendor is whose agent paid.
	Vendor string `json:"vendor"`
	// State is signed, collected, failed or unknown.
	State string `json:"state"`
	// Transaction names the transfer, once it is collected.
	Transaction string `json:"transaction,omitzero"`
	// Payment is what was signed.
	Payment Payment `json:"payment"`
}

func (k *Kept) change() Change { return Change{"payment/" + k.ID, ahp.MustMarshal(k)} }

// Payments returns the payments that were not collected at once, the oldest first. They
// have no proofs.
func (s *Site) Payments() []Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Kept{}
	for _, k := range s.kept {
		c := *k
		c.Payment.Proof = nil
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Kept) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Collected is what a batch has done.
type Collected struct {
	// Collected, Failed and Unknown count payments by their new state.
	Collected int `json:"collected"`
	Failed    int `json:"failed"`
	Unknown   int `json:"unknown"`
	// Left counts payments that a further call can collect.
	Left int `json:"left"`
}

const (
	collectFor  = 10 * time.Second // then no further payment is begun
	collectEach = 15 * time.Second // for the facilitator's answers to one
)

// ErrNoFacilitator is returned by [Site.Collect] if the configuration names none.
var ErrNoFacilitator = errors.New("the site's configuration names no facilitator in /settle, so nothing can be collected")

// Collects reports whether a facilitator can collect payments that are kept.
func (s *Site) Collects() bool {
	rail, ok := s.rails[aam.X402].(*x402Rail)
	return ok && rail.facilitator != nil
}

// Collect has the facilitator execute payments that are signed, for ten seconds. One whose
// outcome is unknown is not sent again: it could be executed twice.
func (s *Site) Collect(ctx context.Context) (Collected, error) {
	if !s.Collects() {
		return Collected{}, ErrNoFacilitator
	}
	rail := s.rails[aam.X402].(*x402Rail)
	s.collecting.Lock()
	defer s.collecting.Unlock()
	var sum Collected
	end := time.Now().Add(collectFor)
	for _, k := range s.Payments() {
		if k.State != StateSigned || k.Payment.Scheme != aam.X402 {
			continue
		}
		if ctx.Err() != nil || time.Now().After(end) {
			sum.Left++
			continue
		}
		state, err := s.collect(ctx, rail, k.ID)
		if err != nil {
			return sum, err
		}
		switch state {
		case StateCollected:
			sum.Collected++
		case StateFailed:
			sum.Failed++
		default:
			sum.Unknown++
		}
	}
	return sum, nil
}

// collect collects one payment. "Unknown" is on disk before the facilitator receives it:
// if the host ends meanwhile, the payment is not sent a second time.
func (s *Site) collect(ctx context.Context, rail *x402Rail, id string) (state string, err error) {
	s.mu.Lock()
	payment := s.kept[id].Payment
	s.mu.Unlock()
	if err := s.setKept(id, StateUnknown, ""); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectEach)
	defer cancel()
	done, err := rail.collect(ctx, payment, s.now())
	state = StateCollected
	if _, refused := errors.AsType[*Refusal](err); refused {
		state = StateFailed
	} else if err != nil {
		state = StateUnknown
	}
	return state, s.setKept(id, state, done.Transaction)
}

func (s *Site) setKept(id, state, transaction string) error {
	s.mu.Lock()
	k := s.kept[id]
	k.State, k.Transaction = state, transaction
	b := s.journal.add(k.change())
	s.mu.Unlock()
	s.changed()
	return s.journal.commit(b)
}
