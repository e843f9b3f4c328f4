package host

import (
	"github.com/ahp-canvas/ahp-canvas/canvas/host/internal/wiring"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

func init() {
	wiring.Log = func(h any) *channels.Log { return h.(*Host).log }
}
