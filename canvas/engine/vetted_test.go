package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
)

// TestVettedAreBounded: the newest 64 compiled sets are kept, up to a megabyte; the
// newest one is always kept, because its fold follows.
func TestVettedAreBounded(t *testing.T) {
	var v vetted
	l := check.Limits{Limits: canvas.Limits{}.WithDefaults()}
	keep := func(name string, size int) {
		set := []canvas.Declaration{{CanvasID: name, DisplayName: "x"}}
		for n := 0; size > 0; n++ { // descriptions have a limit
			d := canvas.Declaration{CanvasID: fmt.Sprint(n), DisplayName: "x"}
			for a := 0; size > 0 && a < 64; a++ {
				part := min(size, 16<<10)
				d.Actions = append(d.Actions, canvas.Action{Name: fmt.Sprint(a), Description: strings.Repeat("x", part)})
				size -= part
			}
			set = append(set, d)
		}
		if _, err := v.compile(&l, set); err != nil {
			t.Fatal(err)
		}
		if v.sets[v.order[len(v.order)-1]][0].CanvasID != name {
			t.Errorf("%s is not kept", name)
		}
	}
	for n := range 65 {
		keep(fmt.Sprint("small", n), 1)
	}
	if oldest := v.sets[v.order[0]][0].CanvasID; len(v.sets) != 64 || oldest != "small1" {
		t.Errorf("%d are kept from %s on", len(v.sets), oldest)
	}
	for n := range 3 {
		keep(fmt.Sprint("large", n), 400<<10)
	}
	if len(v.sets) != 2 || len(v.order) != 2 {
		t.Errorf("%d large ones are kept", len(v.sets))
	}
	keep("huge", 2<<20)
	keep("huge", 2<<20)
	keep("small", 1)
	if len(v.sets) != 1 || v.bytes != len(v.order[0]) {
		t.Errorf("%d are kept, %d bytes", len(v.sets), v.bytes)
	}
}
