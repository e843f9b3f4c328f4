package web_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
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
// saying so once the store works: a page at the host, and one at a relay.
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
	code, _, err := h.AccessTokens().Create(token.Request{Kind: token.Invitation, Name: "a person", Role: host.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	if err := h.EnsureSession("ahp-session:/more", "more"); err == nil {
		t.Fatal("a full disk stored a session")
	}
	here := b.Open(t, h.Link(host.DefaultSession))
	far := b.Open(t, web.InvitationAt(startRelay(t, h)+"/#tkn=relay-token&host=laptop", code))
	shown := `document.getElementById("unstored")`
	says := fmt.Sprintf("!%s.hidden && %[1]s.innerText.includes(%q) && %[1]s.innerText.includes(%q)", shown, "Changes are not stored now.", "works again: the disk is full.")
	here.Wait(t, says)
	far.Wait(t, says)
	disk.full.Store(false)
	here.Wait(t, shown+".hidden")
	webtest.Eval[any](t, far, `document.dispatchEvent(new Event("visibilitychange"))`) // asks now, not in ten seconds
	far.Wait(t, shown+".hidden")
}
