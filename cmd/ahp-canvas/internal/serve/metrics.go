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
		listener.Gauge("ahp_canvas_connections", "Open AHP connections, including those through a relay.", func() float64 { return float64(h.Load().Connections) }),
		listener.Gauge("ahp_canvas_connections_max", "Limit of AHP connections (--max-connections).", func() float64 { return float64(h.Load().MaxConnections) }),
		listener.Counter("ahp_canvas_connections_refused_total", "AHP connections refused because the limit was reached.", func() float64 { return float64(h.Load().Refused) }),
		listener.Gauge("ahp_canvas_open_canvases", "Open canvases of the default session.", func() float64 {
			open, err := h.Canvases().ListOpen(host.DefaultSession)
			if err != nil {
				return 0
			}
			return float64(len(open))
		}),
	}...)
}
