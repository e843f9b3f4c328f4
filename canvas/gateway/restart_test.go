package gateway_test

import (
	"net/url"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// TestAfterRestart: a host that starts again gives an open canvas a new address, and the old
// one opens nothing.
func TestAfterRestart(t *testing.T) {
	store := channels.NewMemory()
	durable := func(o *host.Options) { o.Store = store }
	var channel string
	var before *url.URL
	t.Run("before", func(t *testing.T) {
		s := newStage(t, app(), durable)
		before, _ = url.Parse(s.open("board"))
		for channel = range s.urls {
		}
	})
	t.Run("after", func(t *testing.T) {
		s := newStage(t, app(), durable)
		s.subscribe(channel)
		after, _ := url.Parse(s.await(channel, true))
		if after.Hostname() == before.Hostname() || after.Query().Get("~t") == before.Query().Get("~t") {
			t.Errorf("it was at %s, and is at %s", before, after)
		}
		before.Host = before.Hostname() + ":" + after.Port()
		if res, _ := s.do("GET", before.String(), nil); res.StatusCode != 401 {
			t.Errorf("the old address: %d", res.StatusCode)
		}
	})
}
