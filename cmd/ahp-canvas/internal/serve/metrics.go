package serve

import (
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
)

// Metrics describes the numbers that a host publishes at --admin.
func Metrics() []listener.Description {
	all := append(hostMetrics(nil).Descriptions(), (&uplink{}).metrics().Descriptions()...)
	return append(all, listener.NewSpans("ahp_canvas_", nil).Descriptions()...)
}

// hostMetrics are a host's own numbers. Without a host they can be described only.
func hostMetrics(h *host.Host) listener.Metrics {
	own := append(listener.HTTPMetrics("ahp_canvas_", func() web.ConnStats { return h.Load().HTTP }), listener.Metrics{
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
		listener.Gauge("ahp_canvas_degraded", "1 while the host cannot store changes, for which /healthz has the reason.", func() float64 {
			if h.Health() != nil {
				return 1
			}
			return 0
		}),
		listener.Counter("ahp_canvas_connections_slow_total", "AHP connections closed because they did not read.", func() float64 { return float64(h.Load().Slow) }),
		listener.Counter("ahp_canvas_store_errors_total", "Changes that the store refused because of the disk.", func() float64 { return float64(h.Load().StoreErrors) }),
		listener.Gauge("ahp_canvas_memory_limit_bytes", "Memory that clients can make the host hold (--memory).", func() float64 { return float64(h.Load().Memory.Limit) }),
		listener.Counter("ahp_canvas_memory_closed_total", "AHP connections closed because they held too much memory.", func() float64 { return float64(h.Load().Memory.Closed) }),
		listener.Counter("ahp_canvas_memory_refused_total", "Work that was refused or delayed because clients held too much memory.", func() float64 { return float64(h.Load().Memory.Refused) }),
	}...)
	return append(own, memoryMetrics(h)...)
}

// memoryMetrics are what clients make the host hold, by kind.
func memoryMetrics(h *host.Host) (all listener.Metrics) {
	for _, kind := range budget.Kinds() {
		name := kind.String()
		all = append(all, listener.Labeled("ahp_canvas_memory_bytes", "Memory that clients make the host hold, by kind.", "kind", name,
			func() float64 { return float64(h.Load().Memory.ByKind[name]) }))
	}
	return all
}
