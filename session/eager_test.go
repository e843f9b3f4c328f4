package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestEagerSessions: a session of a later client that was not used goes ten minutes after
// its client, and does not outlive a restart; one with a title, a canvas or a turn stays,
// as does that of an earlier client.
func TestEagerSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := channels.NewMemory()
		b, _ := restart(t, store, session.Options{})
		create := func(uri string, caps ...string) {
			from := &channels.Subscriber{ClientID: "c", Caps: caps}
			if _, err := b.svc.CreateSession(t.Context(), from, session.CreateSessionParams{Channel: uri}); err != nil {
				t.Fatal(err)
			}
		}
		for _, uri := range []string{"ahp-session:/empty", "ahp-session:/title", "ahp-session:/canvas", "ahp-session:/turn"} {
			create(uri, ahp.CapabilityChat)
			b.append(uri, session.IsReadChanged{IsRead: true})
		}
		create("ahp-session:/old")
		b.append("ahp-session:/title", session.TitleChanged{Title: "Plan"})
		b.append("ahp-session:/canvas", session.OpenCanvasesChanged{OpenCanvases: []session.OpenCanvasRef{{InstanceID: "i", Channel: "ahp-canvas:/i"}}})
		b.append("ahp-session:/canvas", session.OpenCanvasesChanged{OpenCanvases: []session.OpenCanvasRef{}})
		b.svc.Used("ahp-session:/turn")
		exists := func(uri string) bool { _, ok := b.log.State(uri); return ok }
		tidy := func(after time.Duration, connected bool) bool {
			b.now = b.now.Add(after)
			b.svc.Tidy(t.Context(), func(string) bool { return connected })
			return exists("ahp-session:/empty")
		}
		if !tidy(0, false) || !tidy(9*time.Minute, false) || !tidy(2*time.Minute, true) || !tidy(time.Minute, false) || !tidy(9*time.Minute, false) {
			t.Error("the session is gone before its client has been for ten minutes")
		}

		time.Sleep(50 * time.Millisecond) // until the changes are stored
		synctest.Wait()
		again := b
		b, _ = restart(t, store, session.Options{})
		if exists("ahp-session:/empty") {
			t.Error("the unused session is back after a restart")
		}
		kept := func() {
			t.Helper()
			for _, uri := range []string{"ahp-session:/title", "ahp-session:/canvas", "ahp-session:/turn", "ahp-session:/old"} {
				if !exists(uri) {
					t.Errorf("%s is gone", uri)
				}
			}
		}
		kept()
		b = again
		if tidy(time.Minute, false) {
			t.Error("the unused session stays")
		}
		kept()
	})
}
