package channels

import (
	"iter"
	"maps"
)

// subTable are a connection's subscriptions by channel. Most connections have few of them,
// which a list keeps in a tenth of a map's memory. Guarded by the log's mutex.
type subTable struct {
	few  []fewSub                  // in no order
	many map[*channel]subscription // replaces few above mostFew; nil before
}

type fewSub struct {
	of  *channel
	sub subscription
}

const mostFew = 8

func (t *subTable) len() int { return len(t.few) + len(t.many) }

func (t *subTable) get(c *channel) (sub subscription, ok bool) {
	if t.many != nil {
		sub, ok = t.many[c]
		return sub, ok
	}
	for i := range t.few {
		if t.few[i].of == c {
			return t.few[i].sub, true
		}
	}
	return subscription{}, false
}

func (t *subTable) set(c *channel, sub subscription) {
	if t.many != nil {
		t.many[c] = sub
		return
	}
	for i := range t.few {
		if t.few[i].of == c {
			t.few[i].sub = sub
			return
		}
	}
	if len(t.few) < mostFew {
		t.few = append(t.few, fewSub{c, sub})
		return
	}
	many := maps.Collect(t.all())
	many[c] = sub
	*t = subTable{many: many}
}

func (t *subTable) remove(c *channel) {
	delete(t.many, c)
	for i := range t.few {
		if t.few[i].of == c {
			last := len(t.few) - 1
			t.few[i], t.few[last] = t.few[last], fewSub{}
			t.few = t.few[:last]
			return
		}
	}
}

// all iterates over the subscriptions, in no order. The loop may set those that exist.
func (t *subTable) all() iter.Seq2[*channel, subscription] {
	return func(yield func(*channel, subscription) bool) {
		for i := range t.few {
			if !yield(t.few[i].of, t.few[i].sub) {
				return
			}
		}
		for c, sub := range t.many {
			if !yield(c, sub) {
				return
			}
		}
	}
}
