package jsonschema

import (
	"container/list"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Memory keeps compiled schemas within their share of a host's memory. A compiled schema
// takes up to three hundred times its text, so those that were not used lately are dropped
// and compiled again for the next input. A nil Memory keeps all.
type Memory struct {
	ledger *budget.Ledger

	mu    sync.Mutex
	order *list.List // of *Schema, the most recently used first
	bytes int64
	timer *time.Timer // calls shrink; nil if nothing is to be dropped
}

// NewMemory returns a Memory that counts in a ledger, which may be nil.
func NewMemory(l *budget.Ledger) *Memory { return &Memory{ledger: l, order: list.New()} }

// What a schema takes beside its text, in bytes: measured with schemas of many parts, and
// with patterns of many steps.
const (
	bytesPerPart = 2048
	bytesPerStep = 96
)

// shrinkAfter is when the compiled schemas that nothing has used shrink to a tenth.
const shrinkAfter = 5 * time.Second

// used records that a schema was compiled or applied, and drops others. The caller holds
// the schema's lock.
func (m *Memory) used(s *Schema) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.place != nil {
		m.order.MoveToFront(s.place)
		return
	}
	s.place = m.order.PushFront(s)
	m.bytes += s.cost
	m.ledger.Add(budget.Schemas, s.cost)
	m.drop(m.limit(), s)
	if m.timer == nil && m.bytes > m.limit()/10 {
		m.timer = time.AfterFunc(shrinkAfter, m.shrink)
	}
}

// limit is most of the share of compiled schemas. Without a budget it is that of a usual
// one.
func (m *Memory) limit() int64 {
	if m.ledger == nil {
		return budget.Default / 8
	}
	return m.ledger.Share(budget.Schemas)
}

// drop drops the schemas that were used longest ago, but not the given one, until at most
// limit bytes are left. A schema that is being applied is kept.
func (m *Memory) drop(limit int64, but *Schema) {
	for e := m.order.Back(); e != nil && m.bytes > limit; {
		s, before := e.Value.(*Schema), e.Prev()
		if s != but && s.mu.TryLock() {
			s.compiled, s.place = nil, nil
			s.mu.Unlock()
			m.order.Remove(e)
			m.bytes -= s.cost
			m.ledger.Add(budget.Schemas, -s.cost)
		}
		e = before
	}
}

// shrink drops most of the compiled schemas: in a burst of declarations few are applied.
func (m *Memory) shrink() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = nil
	m.drop(m.limit()/10, nil)
}
