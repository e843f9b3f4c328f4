package engine

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// hook is a store that calls a test's functions before commits.
type hook struct {
	channels.Store
	opening, closing func() error
}

func (h hook) Commit(_ context.Context, changes ...channels.Change) error {
	if changes[0].Delete {
		return h.closing()
	}
	return h.opening()
}

// SetStore replaces the store by one that calls opening before an open and closing
// before a close.
func (s *Engine) SetStore(opening, closing func() error) {
	s.commits.store = hook{channels.NoStore, opening, closing}
}

// CacheBytes returns the size of the cached content.
func CacheBytes(e *Engine) int { return e.Content.cache.Bytes() }

// PutStore replaces the store.
func (s *Engine) PutStore(store channels.Store) { s.commits.store = store }

// Defaults returns the default limits and timeouts.
func Defaults() (canvas.Limits, canvas.Timeouts) {
	return canvas.Limits{}.WithDefaults(), canvas.Timeouts{}.WithDefaults()
}

// EventRings returns the number of sessions with events.
func EventRings(s *Engine) int {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	return len(s.events.rings)
}
