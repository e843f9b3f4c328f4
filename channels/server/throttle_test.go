package server

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(100, 0.5)
		if wait := p.spend(50); wait != 0 {
			t.Errorf("the units that it has at once cost %s", wait)
		}
		if wait := p.spend(10); wait != 100*time.Millisecond {
			t.Errorf("ten units too many cost %s, want 100ms", wait)
		}
		time.Sleep(100 * time.Millisecond)
		if wait := p.spend(0); wait != 0 || p.full() {
			t.Errorf("after waiting it costs %s", wait)
		}
		time.Sleep(time.Hour)
		if !p.full() || p.spend(51) == 0 {
			t.Error("it saved up more than it has at once")
		}
		if unlimited := newPace(-1, 1); unlimited.spend(1e9) != 0 {
			t.Error("a negative rate is a limit")
		}
	})
}

// TestFairly checks that a connection which sends little does not wait for others with
// the same token, and one that sends much does.
func TestFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := &paces{rate: 1000}
		quiet, loud := &throttled{token: ps.of("t")}, &throttled{token: ps.of("t")}
		waited := 0
		for n := range 300 {
			time.Sleep(10 * time.Millisecond)
			if !quiet.fairly(1) {
				t.Fatalf("the quiet connection waits for others after %d messages", n)
			}
			for range 20 {
				if !loud.fairly(1) {
					waited++
				}
			}
		}
		if part := 300 * 20 / 2; waited < part {
			t.Errorf("of 6,000 messages of the loud connection %d had to wait", waited)
		}
		if part := ps.of("t").part(new(int64)); part > 500 {
			t.Errorf("the part of one of two connections is %.0f of 1000", part)
		}
	})
}

func TestPacesForgetThoseThatSpendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := &paces{rate: 10}
		for n := range 2 * mostPaces {
			ps.of(string(rune('a'+n%26)) + time.Duration(n).String()).spend(1)
			time.Sleep(time.Second)
		}
		if len(ps.byName) > mostPaces {
			t.Errorf("%d names are kept", len(ps.byName))
		}
	})
}
