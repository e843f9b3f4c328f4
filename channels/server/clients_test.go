package server

import (
	"container/list"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/google/go-cmp/cmp"
)

func newTable(limit int, gone *[]string) *clients {
	var mu sync.Mutex // timers fire on goroutines of their own
	return &clients{
		grace: 30 * time.Second, remember: 10 * time.Minute, limit: limit,
		onGone: func(id string) {
			mu.Lock()
			defer mu.Unlock()
			*gone = append(*gone, id)
		},
		known: map[string]*client{}, absent: list.New(),
	}
}

func connOf(id string) *conn { return &conn{sub: &channels.Subscriber{ClientID: id}} }

func TestGraceAndMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(10, &gone)
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		first := connOf("c")
		table.joined(first, "0.5.1")
		table.left(first, channels.Bookmark{})
		pass(29 * time.Second)
		if len(gone) > 0 {
			t.Fatalf("gone within the grace: %v", gone)
		}
		second := connOf("c")
		table.joined(second, "0.6.0")
		pass(time.Hour)
		if len(gone) > 0 {
			t.Fatalf("gone although it is back: %v", gone)
		}
		table.left(second, nil)
		pass(30 * time.Second)
		if diff := cmp.Diff([]string{"c"}, gone); diff != "" {
			t.Error(diff)
		}
		if known, ok := table.recall("c"); !ok || known.exact != "0.6.0" {
			t.Errorf("after the grace: known = %v %v", known.exact, ok)
		}
		pass(10 * time.Minute)
		if _, ok := table.recall("c"); ok {
			t.Error("still known after 10 minutes")
		}
	})
}

func TestOlderConnectionsEndDoesNotEvict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(10, &gone)
		older, newer := connOf("c"), connOf("c")
		table.joined(older, "0.5.1")
		table.joined(newer, "0.5.1")
		table.left(older, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, ok := table.recall("c"); !ok || len(gone) > 0 {
			t.Errorf("known %v, gone %v: the newer connection counts", ok, gone)
		}
		table.left(newer, nil)
		table.close()
	})
}

func TestTooManyAbsentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(2, &gone)
		for i := range 4 {
			c := connOf(fmt.Sprint("c", i))
			table.joined(c, "0.5.1")
			table.left(c, nil)
			time.Sleep(time.Second)
		}
		for i, want := range []bool{false, false, true, true} {
			if _, ok := table.recall(fmt.Sprint("c", i)); ok != want {
				t.Errorf("c%d known = %v, want %v", i, ok, want)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		// Forgotten or not, the grace of each runs out.
		if diff := cmp.Diff([]string{"c0", "c1", "c2", "c3"}, gone); diff != "" {
			t.Error(diff)
		}
		table.close()
	})
}

// TestExpected: a client of before a restart has its grace and its capabilities,
// and nothing to reconnect from.
func TestExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(10, &gone)
		table.expect("back", ahp.Capabilities{"canvas"})
		table.expect("away", nil)
		time.Sleep(29 * time.Second)
		known, ok := table.recall("back")
		if !ok || !known.caps.Has("canvas") || known.exact != "" {
			t.Errorf("known = %+v %v", known, ok)
		}
		table.joined(connOf("back"), "0.6.0")
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]string{"away"}, gone); diff != "" {
			t.Error(diff)
		}
		if known, _ := table.recall("back"); known.caps.Has("canvas") {
			t.Error("what it says itself counts")
		}
		table.close()
	})
}
