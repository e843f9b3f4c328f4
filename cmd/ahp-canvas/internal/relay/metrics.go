package relay

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
)

// edgeMetrics are a relay's numbers. Their only label is the reason of a refusal, which has
// one value for each reason that package ahp/relay knows.
type edgeMetrics struct{ edge *relay.Edge }

// edgeNumbers describes the numbers, by their names below ahp_relay_.
var edgeNumbers = []listener.Description{
	{Name: "ahp_relay_hosts", Kind: "gauge", Help: "Registered hosts."},
	{Name: "ahp_relay_lanes_waiting", Kind: "gauge", Help: "Clients that wait for their host to connect."},
	{Name: "ahp_relay_lanes", Kind: "gauge", Help: "Clients that are connected to their host; each takes two connections."},
	{Name: "ahp_relay_connections", Kind: "gauge", Help: "WebSocket connections: one for each host, and two for each of its clients."},
	{Name: "ahp_relay_lanes_opened_total", Kind: "counter", Help: "Clients that were connected to their host."},
	{Name: "ahp_relay_bytes_total", Kind: "counter", Help: "Forwarded payload in bytes."},
	{Name: "ahp_relay_slow_total", Kind: "counter", Help: "Lanes closed because the host or the client did not read."},
	{Name: "ahp_relay_evicted_total", Kind: "counter", Help: "Lanes closed to make space for others who opened the same link."},
	{Name: "ahp_relay_refused_total", Kind: "counter", Help: "Refused requests and connections."},
}

var (
	descHosts   = edgeDesc("ahp_relay_hosts")
	descWaiting = edgeDesc("ahp_relay_lanes_waiting")
	descLanes   = edgeDesc("ahp_relay_lanes")
	descConns   = edgeDesc("ahp_relay_connections")
	descOpened  = edgeDesc("ahp_relay_lanes_opened_total")
	descBytes   = edgeDesc("ahp_relay_bytes_total", "to")
	descSlow    = edgeDesc("ahp_relay_slow_total")
	descEvicted = edgeDesc("ahp_relay_evicted_total")
	descRefused = edgeDesc("ahp_relay_refused_total", "reason")
)

// edgeDesc returns the descriptor of a number.
func edgeDesc(name string, labels ...string) *prometheus.Desc {
	i := slices.IndexFunc(edgeNumbers, func(d listener.Description) bool { return d.Name == name })
	return prometheus.NewDesc(name, edgeNumbers[i].Help, labels, nil)
}

// Metrics describes the numbers that a relay publishes at --admin.
func Metrics() []listener.Description {
	return append(slices.Clone(edgeNumbers), listener.HTTPMetrics("ahp_relay_", nil).Descriptions()...)
}

// Describe implements prometheus.Collector.
func (m edgeMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

// Collect implements prometheus.Collector.
func (m edgeMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.edge.Stats()
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	put(descHosts, prometheus.GaugeValue, float64(s.Hosts))
	put(descWaiting, prometheus.GaugeValue, float64(s.Waiting))
	put(descLanes, prometheus.GaugeValue, float64(s.Lanes))
	put(descConns, prometheus.GaugeValue, float64(s.Hosts+s.Waiting+2*s.Lanes))
	put(descOpened, prometheus.CounterValue, float64(s.LanesOpened))
	put(descBytes, prometheus.CounterValue, float64(s.BytesToHosts), "host")
	put(descBytes, prometheus.CounterValue, float64(s.BytesToClient), "client")
	put(descSlow, prometheus.CounterValue, float64(s.Slow))
	put(descEvicted, prometheus.CounterValue, float64(s.Evicted))
	for reason, n := range s.Refused {
		put(descRefused, prometheus.CounterValue, float64(n), string(reason))
	}
}
