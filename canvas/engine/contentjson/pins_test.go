package contentjson

import (
	"bytes"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// TestPinsShare checks that connections which receive the same content hold one copy.
func TestPinsShare(t *testing.T) {
	ledger := budget.New(512 << 20)
	pins := NewPins(ledger)
	key := Key{Channel: "ahp-canvas:/1", Path: "/a"}
	content := func(b byte) []byte { return bytes.Repeat([]byte{b}, 4<<20) }
	var releases []func()
	for range 100 {
		a := ledger.Open("view/", nil)
		end, err := pins.Begin(t.Context(), time.Second, a, key)
		if err != nil {
			t.Fatal(err)
		}
		data := pins.Share(key, content('a'))
		releases = append(releases, pins.Hold(a, key, data))
		end()
	}
	if used := ledger.Used(budget.Content); used != 4<<20 {
		t.Errorf("100 readers of 4 MiB hold %d bytes", used)
	}
	if other := pins.Share(key, content('b')); other[0] != 'b' {
		t.Error("changed content was taken for the old one")
	}
	for _, release := range releases {
		release()
		release() // once counts
	}
	if used := ledger.Used(budget.Content); used != 0 || len(pins.byKey)+len(pins.byPlace)+len(pins.reading) != 0 {
		t.Errorf("%d bytes are held after all readers have ended", used)
	}
}

// TestPinsReserve checks that a read of content that was large waits until it fits.
func TestPinsReserve(t *testing.T) {
	ledger := budget.New(64 << 20)
	pins := NewPins(ledger)
	key := Key{Channel: "ahp-canvas:/1", Path: "/a"}
	a := ledger.Open("view/", budget.HolderFunc(func(string) {}))
	pins.Hold(a, key, make([]byte, 10<<20))()
	held := pins.Hold(a, Key{Channel: "ahp-canvas:/1", Path: "/b"}, make([]byte, 8<<20))
	if _, err := pins.Begin(t.Context(), time.Millisecond, a, key); err == nil {
		t.Error("18 MiB fit into a share of 16 MiB")
	}
	held()
	end, err := pins.Begin(t.Context(), time.Second, a, key)
	if err != nil {
		t.Fatal(err)
	}
	end()
	ledger.Close()
}
