package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestManyAreLostAtOnce: what one provider has open becomes stale in one transaction,
// each channel first and then the catalogue, once. It is sent whole: once for each
// canvas it was more than a connection takes at a time, and all who looked were
// closed as slow.
func TestManyAreLostAtOnce(t *testing.T) {
	h, c := newClients(t)
	const many = 256
	c.answers(always(`{"title":"`+strings.Repeat("ä", 512)+`"}`, nil))
	join(t, h, "c1", editor)
	v := h.Connect("view")
	for n := range many {
		v.Subscribe(h.Open("editor", fmt.Sprint("panel-", n), nil).Channel)
	}
	v.Subscribe(canvastest.Session)
	h.Canvases.Clients.ClientLost("c1")
	heard, size := v.Take(), 0
	for n, e := range heard {
		size += len(e.Action)
		if last := n == len(heard)-1; last != (e.Channel == canvastest.Session) {
			t.Errorf("%d of %d is of %s", n, len(heard), e.Channel)
		}
	}
	equal(t, many+1, len(heard))
	if size > 1<<20 {
		t.Errorf("%d bytes were sent", size)
	}
	equal(t, many, strings.Count(registry(h), " stale"))
	h.Canvases.Clients.ClientLost("c1")
	equal(t, nil, v.Brief())
}
