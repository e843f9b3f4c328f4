package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestManyInstancesLostAtOnce: all instances of a lost provider become stale in one
// transaction, and the catalog is sent once, after all channels. Sending it once per
// instance overflowed the connections of subscribers.
func TestManyInstancesLostAtOnce(t *testing.T) {
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
