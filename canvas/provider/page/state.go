package page

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

const (
	maxKey  = 200      // bytes of a key
	maxPart = 48 << 10 // bytes of the state in one message, unless one value is larger
)

// shared returns the shared state; never nil. mu is held.
func (i *instance) shared() map[string]ahp.Value {
	if i.rec.State == nil {
		return map[string]ahp.Value{}
	}
	return i.rec.State
}

// stateParts yields the shared state in parts that fit into messages. mu is held.
func (i *instance) stateParts() iter.Seq[map[string]ahp.Value] {
	return func(yield func(map[string]ahp.Value) bool) {
		part, size := map[string]ahp.Value{}, 0
		for _, key := range slices.Sorted(maps.Keys(i.rec.State)) {
			n := entrySize(key, i.rec.State[key])
			if size > 0 && size+n > maxPart {
				if !yield(part) {
					return
				}
				part, size = map[string]ahp.Value{}, 0
			}
			part[key] = i.rec.State[key]
			size += n
		}
		if size > 0 {
			yield(part)
		}
	}
}

// entrySize returns the size of an entry as a member of a JSON object.
func entrySize(key string, v ahp.Value) int { return len(ahp.MustMarshal(key)) + len(v) + 2 }

// setState changes the shared state for a page: the last writer of a key wins. The change
// is durable before any page sees it.
func (i *instance) setState(ctx context.Context, from canvas.View, m fromPage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.changeState(ctx, m.Values, m.Delete); err != nil {
		i.refuse(from, m, err)
		return
	}
	_ = i.post(toPage{Kind: "state", Values: m.Values, Delete: m.Delete}) // fails only if the canvas is closed
	i.answer(from, toPage{Kind: "done", Ref: m.Ref})
}

// changeState applies a change of the shared state and saves it. mu is held.
func (i *instance) changeState(ctx context.Context, values map[string]ahp.Value, deleted []string) error {
	next := i.rec
	next.State = maps.Clone(i.shared())
	for _, key := range deleted {
		delete(next.State, key)
	}
	for key, v := range values {
		if key == "" || len(key) > maxKey {
			return canvas.Errorf(CodeInvalid, "a key of the shared state has 1 to %d bytes", maxKey)
		}
		next.State[key] = v
	}
	size := 2
	for key, v := range next.State {
		size += entrySize(key, v)
	}
	if size > MaxState {
		return canvas.Errorf(CodeTooLarge, "the shared state would have %d bytes of JSON; at most %d are allowed", size, MaxState)
	}
	return i.save(ctx, next)
}
