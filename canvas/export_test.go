package canvas

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// EncodeRead is the encoder of canvasReadResource, for its fuzz test.
func EncodeRead(uri, contentType, etag string, data []byte) ahp.Value {
	r := &resource{uri: uri, contentType: contentType, etag: etag, data: data, text: textual(contentType, data)}
	return r.encodeRead()
}

// CheckURL is the url policy, for its table.
func CheckURL(instanceID, url string, client bool, allowed ...string) error {
	source := session.CanvasProviderSource{Kind: session.SourceServer}
	if client {
		source.Kind = session.SourceClient
	}
	p := urlPolicy{allowed: allowed}
	return p.check(instanceID, url, source)
}

// Depth counts JSON levels.
func Depth(v string) int { return depth(ahp.Value(v)) }

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
func (s *Service) SetStore(opening, closing func() error) {
	s.store = hook{channels.NoStore, opening, closing}
}

// CacheBytes is how much encoded content is kept.
func CacheBytes(s *Service) int {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	n := 0
	for _, e := range s.cache.byKey {
		n += len(e.Value.(*cached).value)
	}
	return n
}

// PutStore replaces the store from now on.
func (s *Service) PutStore(store channels.Store) { s.store = store }

// Defaults are the limits and times of who gives none.
func Defaults() (Limits, Timeouts) { return Limits{}.withDefaults(), Timeouts{}.withDefaults() }

// EventRings is of how many sessions events are kept.
func EventRings(s *Service) int {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	return len(s.events.rings)
}
