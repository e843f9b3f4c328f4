package history_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/history"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

const session = "ahp-session:/a#b"

func newHistory(t *testing.T, store channels.Store) *history.History {
	t.Helper()
	h := history.New(history.Options{Log: channels.New(channels.Options{}), Store: store, Now: time.Now})
	records, err := channels.LoadRecords(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Load(records); err != nil {
		t.Fatal(err)
	}
	return h
}

func happening(instance, what string) canvas.Happening {
	return canvas.Happening{Who: canvas.ByAgent, What: what, InstanceID: instance, Title: "Title of " + instance}
}

// TestSameIsCounted: what an actor does again within a minute is one entry, which moves to
// the end. Another instance in between does not matter.
func TestSameIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, channels.NoStore)
		h.Add(session, happening("one", "moved\na card"))
		h.Add(session, happening("two", "moved a card"))
		time.Sleep(time.Second)
		first := h.After(session, 0)
		h.Add(session, happening("one", "moved a card"))
		want := []canvas.Happening{
			{ID: 2, Seq: 2, Time: "2000-01-01T00:00:00Z", Who: canvas.ByAgent, What: "moved a card", InstanceID: "two", Title: "Title of two", Count: 1},
			{ID: 1, Seq: 3, Time: "2000-01-01T00:00:01Z", Who: canvas.ByAgent, What: "moved a card", InstanceID: "one", Title: "Title of one", Count: 2},
		}
		all := h.After(session, 0)
		if diff := cmp.Diff(canvas.HistoryResult{Happenings: want, Next: 3}, all); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(want[1:], h.After(session, first.Next).Happenings); diff != "" {
			t.Errorf("after %d (-want +got)\n%s", first.Next, diff)
		}
		time.Sleep(time.Minute)
		h.Add(session, happening("one", "moved a card"))
		h.Add(session, happening("one", " \n "))
		if n := len(h.After(session, all.Next).Happenings); n != 1 {
			t.Errorf("%d entries, want one", n)
		}
		if n := len(h.After(session, 99).Happenings); n != 3 {
			t.Errorf("after a position of another host: %d entries, want all", n)
		}
	})
}

// TestLimits: a session has 256 entries, and one canvas cannot displace more than half.
func TestLimits(t *testing.T) {
	h := newHistory(t, channels.NoStore)
	for n := range 200 {
		h.Add(session, happening(fmt.Sprint("quiet", n), "opened the canvas"))
	}
	for n := range 1000 {
		h.Add(session, happening("loud", fmt.Sprint("did ", n)))
	}
	loud, all := 0, h.After(session, 0).Happenings
	for _, one := range all {
		if one.InstanceID == "loud" {
			loud++
		}
	}
	if len(all) != 256 || loud != 128 || all[len(all)-1].What != "did 999" || all[len(all)-128].What != "did 872" {
		t.Errorf("%d entries, %d of the loud canvas, from %q", len(all), loud, all[len(all)-128].What)
	}
}

// TestRestart: entries survive a restart, in order, until their session ends.
func TestRestart(t *testing.T) {
	store := channels.NewMemory()
	h := newHistory(t, store)
	for n := range 300 {
		h.Add(session, happening(fmt.Sprint("c", n%5), fmt.Sprint("did ", n)))
	}
	h.Add("ahp-session:/other", happening("x", "opened the canvas"))
	h.Add("ahp-session:/gone", happening("x", "opened the canvas"))
	h.Drop("ahp-session:/gone")
	want := h.After(session, 0)
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.Close()
	store, err := store.Reopen()
	if err != nil {
		t.Fatal(err)
	}
	h = newHistory(t, store)
	if diff := cmp.Diff(want, h.After(session, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if n := len(h.After("ahp-session:/gone", 0).Happenings); n != 0 {
		t.Errorf("%d entries of a session that ended", n)
	}
	h.Keep(func(uri string) bool { return uri == session })
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	records, err := channels.LoadRecords(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(records.Under("history/ahp-session:/other")); n != 0 {
		t.Errorf("%d records of a session that does not exist", n)
	}
	if n := len(records.Under("history/")); n != 17 {
		t.Errorf("%d records, want 17 of 16 entries", n)
	}
}
