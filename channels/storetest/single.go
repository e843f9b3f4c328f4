package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

func testEmpty(t *testing.T, p *place) {
	check(t, p.start(t), nil)
	p.commit(t) // an empty batch
	check(t, p.again(t), nil)
	p.stop(t)
}

// testOrder: Load returns the keys in the order of their bytes.
func testOrder(t *testing.T, p *place) {
	p.start(t)
	want := map[string]string{}
	for _, key := range []string{"b", "a", "a/b", "a\x00", "a b", "B", "é", "z", "\U0001f600", "￿", "10", "9", "\x00", "\x7f"} {
		want[key] = "of " + key
		p.commit(t, set(key, "of "+key))
	}
	check(t, p.load(t), want)
	check(t, p.again(t), want)
	p.stop(t)
}

// testBatch: the changes of a batch are applied in order.
func testBatch(t *testing.T, p *place) {
	p.start(t)
	p.commit(t, set("a", "1"), set("b", "1"), set("c", "1"), gone("never existed"))
	p.commit(t, set("a", "2"), gone("b"), gone("c"), set("c", "2"), set("d", "1"), gone("d"), set("a", "3"), set("a", "4"))
	want := map[string]string{"a": "4", "c": "2"}
	check(t, p.load(t), want)
	check(t, p.again(t), want)
	p.commit(t, gone("a"), set("c", ""), channels.Change{Key: "e"}, channels.Change{Key: "c2", Value: []byte("x"), Delete: true})
	want = map[string]string{"c": "", "e": ""}
	check(t, p.again(t), want)
	check(t, p.again(t), want)
	p.stop(t)
}

// testKeys: similar keys are different records.
func testKeys(t *testing.T, p *place) {
	p.start(t)
	want := map[string]string{"k": "1", "K": "2", "k ": "3", "k\x00": "4", "é": "5", "e\u0301": "6", "1": "7", "1.0": "8", "NULL": "9"}
	for key, value := range want {
		p.commit(t, set(key, value))
	}
	check(t, p.again(t), want)
	p.commit(t, gone("K"), gone("k "), gone("1.0"))
	delete(want, "K")
	delete(want, "k ")
	delete(want, "1.0")
	check(t, p.again(t), want)
	p.stop(t)
}

// testLimits: the largest key and value are accepted.
func testLimits(t *testing.T, p *place) {
	p.start(t)
	long := strings.Repeat("k", channels.MaxKey)
	large := strings.Repeat("\x00\xffv", channels.MaxValue/3+1)[:channels.MaxValue]
	p.commit(t, set(long, large), set("small", "1"))
	want := map[string]string{long: large, "small": "1"}
	check(t, p.again(t), want)
	p.commit(t, set(long, large[1:]), gone("small"))
	check(t, p.again(t), map[string]string{long: large[1:]})
	p.commit(t, gone(long))
	check(t, p.again(t), nil)
	p.stop(t)
}

// testRefused: a batch with an invalid change fails and applies nothing.
func testRefused(t *testing.T, p *place) {
	p.start(t)
	p.commit(t, set("a", "1"))
	for name, bad := range map[string]channels.Change{
		"empty key":   set("", "1"),
		"long key":    set(strings.Repeat("k", channels.MaxKey+1), "1"),
		"no UTF-8":    set("a\xff", "1"),
		"bad removal": gone("a\xff"),
		"large value": {Key: "b", Value: make([]byte, channels.MaxValue+1)},
	} {
		err := p.s.Commit(t.Context(), set("a", "2"), bad, gone("a"))
		if err == nil || isStoreError(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.commit(t, set("b", "1"))
	want := map[string]string{"a": "1", "b": "1"}
	check(t, p.load(t), want)
	check(t, p.again(t), want)
	p.stop(t)
}

func isStoreError(err error) bool {
	for _, e := range []error{
		channels.ErrStoreFull, channels.ErrStoreReadOnly, channels.ErrStoreDamaged, channels.ErrStoreNewer,
		channels.ErrStoreBusy, channels.ErrStoreBroken, channels.ErrStoreClosed,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// testLoadStops: Load stops at an error of fn and returns it.
func testLoadStops(t *testing.T, p *place) {
	p.start(t)
	p.commit(t, set("a", "1"), set("b", "1"), set("c", "1"))
	stop, seen := errors.New("stop"), 0
	err := p.s.Load(t.Context(), func(string, []byte) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 2 {
		t.Errorf("load: %v after %d records", err, seen)
	}
	check(t, p.load(t), map[string]string{"a": "1", "b": "1", "c": "1"})
	p.stop(t)
}

// testValues: changing a loaded value, or a committed one after Commit, does not change
// the store.
func testValues(t *testing.T, p *place) {
	p.start(t)
	value := []byte("value")
	p.commit(t, channels.Change{Key: "a", Value: value})
	copy(value, "other")
	for range 2 {
		err := p.s.Load(t.Context(), func(_ string, value []byte) error {
			if string(value) != "value" {
				t.Errorf("loaded %q", value)
			}
			copy(value, "mine!")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check(t, p.again(t), map[string]string{"a": "value"})
	p.stop(t)
}

func testCanceled(t *testing.T, p *place) {
	p.start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.s.Commit(ctx, set("a", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	p.commit(t, set("b", "1"))
	check(t, p.again(t), map[string]string{"b": "1"})
	p.stop(t)
}

func testClosed(t *testing.T, p *place) {
	p.start(t)
	p.commit(t, set("a", "1"))
	p.stop(t)
	if err := p.s.Commit(t.Context(), set("b", "1")); !errors.Is(err, channels.ErrStoreClosed) {
		t.Errorf("commit: %v", err)
	}
	if err := p.s.Load(t.Context(), func(string, []byte) error { return nil }); !errors.Is(err, channels.ErrStoreClosed) {
		t.Errorf("load: %v", err)
	}
	check(t, p.start(t), map[string]string{"a": "1"})
	p.stop(t)
}

// testBusy: a store that is open cannot be opened again, and is not affected by the
// attempt.
func testBusy(t *testing.T, p *place) {
	p.start(t)
	p.commit(t, set("a", "1"))
	if s, err := p.open(); !errors.Is(err, channels.ErrStoreBusy) {
		t.Errorf("open of an open store: %v", err)
		if err == nil {
			s.Close()
		}
	}
	p.commit(t, set("b", "1"))
	check(t, p.again(t), map[string]string{"a": "1", "b": "1"})
	p.stop(t)
}
