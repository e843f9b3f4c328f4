package serve

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
)

// hostMetrics are a host's own numbers.
func hostMetrics(h *host.Host) prometheus.Collector {
	return append(listener.HTTPMetrics("ahp_canvas_", func() web.ConnStats { return h.Load().HTTP }), listener.Metrics{
		listener.Gauge("ahp_canvas_connections", "AHP connections that are open, a relay's lanes included.", func() float64 { return float64(h.Connections()) }),
		listener.Gauge("ahp_canvas_connections_max", "How many of them there may be (--max-connections).", func() float64 { return float64(h.Load().MaxConnections) }),
		listener.Counter("ahp_canvas_connections_refused_total", "AHP connections that were too many.", func() float64 { return float64(h.Load().Refused) }),
		listener.Gauge("ahp_canvas_open_canvases", "Canvases that are open in the default session.", func() float64 {
			open, err := h.Canvases().ListOpen(host.DefaultSession)
			if err != nil {
				return 0
			}
			return float64(len(open))
		}),
	}...)
}
