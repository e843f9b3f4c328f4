package web_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// fullStore is a store in memory whose disk can be full.
type fullStore struct {
	channels.Store
	full atomic.Bool
}

func (s *fullStore) Commit(ctx context.Context, changes ...channels.Change) error {
	if s.full.Load() {
		return fmt.Errorf("/secret/store.db: %w", channels.ErrStoreFull)
	}
	return s.Store.Commit(ctx, changes...)
}

// TestAFailingStoreIsShown: a page says that the host stores nothing, and why, and stops
// saying so once the store works.
func TestAFailingStoreIsShown(t *testing.T) {
	webtest.InShort(t)
	b := webtest.Start(t)
	disk := &fullStore{Store: channels.NoStore}
	store := channels.WatchStore(disk, nil, nil)
	defer store.Close()
	h, err := host.New(host.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	disk.full.Store(true)
	if err := h.EnsureSession("ahp-session:/more", "more"); err == nil {
		t.Fatal("a full disk stored a session")
	}
	p := b.Open(t, h.Link(host.DefaultSession))
	shown := `document.getElementById("unstored")`
	p.Wait(t, fmt.Sprintf("!%s.hidden && %[1]s.innerText.includes(%q) && %[1]s.innerText.includes(%q)", shown, "Changes are not stored now.", "works again: the disk is full."))
	disk.full.Store(false)
	p.Wait(t, shown+".hidden")
}
