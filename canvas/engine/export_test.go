package engine

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// hook is a store that lets a test do something at the store's turn.
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

// SetStore puts functions in the place of the store.
func (s *Engine) SetStore(opening, closing func() error) {
	s.commits.store = hook{channels.NoStore, opening, closing}
}

// CacheBytes returns how much encoded content is cached.
func CacheBytes(e *Engine) int { return e.Content.cache.Bytes() }

// PutStore replaces the store from now on.
func (s *Engine) PutStore(store channels.Store) { s.commits.store = store }

// Defaults are the limits and times of who gives none.
func Defaults() (canvas.Limits, canvas.Timeouts) {
	return canvas.Limits{}.WithDefaults(), canvas.Timeouts{}.WithDefaults()
}

// EventRings is of how many sessions events are kept.
func EventRings(s *Engine) int {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	return len(s.events.rings)
}
