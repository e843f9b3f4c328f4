package server

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/google/go-cmp/cmp"
)

// newTable returns the client table of a server with default options but limit.
func newTable(limit int, gone *[]string) *clients {
	var mu sync.Mutex // timers fire in their own goroutines
	table := &New(Options{MaxClients: limit}).clients
	table.onGone = func(id string) {
		mu.Lock()
		defer mu.Unlock()
		*gone = append(*gone, id)
	}
	return table
}

func connOf(id string, caps ...string) *conn {
	return &conn{sub: &channels.Subscriber{ClientID: id, Version: ahp.V0_5_1, Caps: caps}}
}

func TestGraceAndMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(10, &gone)
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		first := connOf("c")
		table.joined(first)
		table.left(first, channels.Bookmark{})
		pass(29 * time.Second)
		if len(gone) > 0 {
			t.Fatalf("gone within the grace: %v", gone)
		}
		second := connOf("c")
		second.sub.Version = ahp.V0_6_0
		table.joined(second)
		pass(time.Hour)
		if len(gone) > 0 {
			t.Fatalf("gone while it is connected: %v", gone)
		}
		table.left(second, nil)
		pass(30 * time.Second)
		if diff := cmp.Diff([]string{"c"}, gone); diff != "" {
			t.Error(diff)
		}
		pass(10*time.Minute - 30*time.Second - 1)
		if known, ok := table.recall("c"); !ok || known.version != ahp.V0_6_0 {
			t.Errorf("after the grace: known = %v %v", known.version, ok)
		}
		pass(1)
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
		table.joined(older)
		table.joined(newer)
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

// TestCapabilitiesOfTwoConnections: the newest of a client's open connections
// determines its capabilities (ahp/PROTOCOL.md section 2f). A reconnect resumes those
// of the newest connection, or of the one that ended last.
func TestCapabilitiesOfTwoConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		do              string // A and B join, a and b leave
		counts, resumes bool   // whether the capability is current, and resumed
	}{
		"A alone":                  {"A", true, true},
		"B is newer":               {"AB", false, false},
		"B is newer and ended":     {"ABb", true, false},
		"then A ended too":         {"ABba", true, true},
		"A is older and ended":     {"ABa", false, false},
		"A is newer":               {"BA", true, true},
		"A is newer and ended":     {"BAa", false, true},
		"then B ended too":         {"BAab", false, false},
		"the older B ended first":  {"BAb", true, true},
		"and A after that":         {"BAba", true, true},
		"A joins after both ended": {"BAabA", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			var gone []string
			table := newTable(10, &gone)
			defer table.close()
			conns := map[rune]*conn{'a': connOf("c", ahp.CapabilityCanvas), 'b': connOf("c")}
			for _, step := range tc.do {
				if c, joins := conns[step+'a'-'A']; joins {
					table.joined(c)
				} else {
					table.left(conns[step], nil)
				}
			}
			known, _ := table.recall("c")
			if counts := table.capabilities("c").Has(ahp.CapabilityCanvas); counts != tc.counts || known.caps.Has(ahp.CapabilityCanvas) != tc.resumes {
				t.Errorf("counts %t, resumes %t", counts, !tc.resumes)
			}
		})
	}
}

// TestSubscriptionLimit: a handshake may list 4,096 subscriptions.
func TestSubscriptionLimit(t *testing.T) {
	c := &conn{server: New(Options{})}
	if err := c.admit("c", 4096); err != nil {
		t.Error(err)
	}
	if err := c.admit("c", 4097); !errors.Is(err, &ahp.Error{Code: ahp.CodeInvalidParams}) {
		t.Errorf("4,097 subscriptions: %v", err)
	}
}

// TestRememberedClients: the 4,096 absent clients that left last are remembered
// (canvas/PROTOCOL.md section 1).
func TestRememberedClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(0, &gone)
		defer table.close()
		for i, want := range []int{4096, 1} {
			for n := range want {
				c := connOf(fmt.Sprint(i, "/", n))
				table.joined(c)
				table.left(c, nil)
			}
			if _, first := table.recall("0/0"); first != (i == 0) {
				t.Errorf("after %d clients the first is known: %t", 4096+i, first)
			}
		}
		if _, second := table.recall("0/1"); !second {
			t.Error("the second client is not known")
		}
	})
}

func TestTooManyAbsentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(2, &gone)
		for i := range 4 {
			c := connOf(fmt.Sprint("c", i))
			table.joined(c)
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
		// The grace period of forgotten clients ends too.
		if diff := cmp.Diff([]string{"c0", "c1", "c2", "c3"}, gone); diff != "" {
			t.Error(diff)
		}
		table.close()
	})
}

// TestExpected: a client from before a restart has its capabilities and a grace
// period, and cannot reconnect.
func TestExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []string
		table := newTable(10, &gone)
		table.expect("back", "", ahp.Capabilities{"canvas"})
		table.expect("away", "", nil)
		time.Sleep(29 * time.Second)
		known, ok := table.recall("back")
		if !ok || !known.caps.Has("canvas") || known.version != (ahp.Version{}) {
			t.Errorf("known = %+v %v", known, ok)
		}
		table.joined(connOf("back"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]string{"away"}, gone); diff != "" {
			t.Error(diff)
		}
		if known, _ := table.recall("back"); known.caps.Has("canvas") {
			t.Error("a new connection did not replace the expected capabilities")
		}
		table.close()
	})
}
