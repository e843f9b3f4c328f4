package relay

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// edgeMetrics are a relay's numbers. Their only label is the reason of a refusal, which has
// one value for each reason that package ahp/relay knows.
type edgeMetrics struct{ edge *relay.Edge }

var (
	descHosts   = edgeDesc("hosts", "Registered hosts.")
	descWaiting = edgeDesc("lanes_waiting", "Clients that wait for their host to connect.")
	descLanes   = edgeDesc("lanes", "Clients that are connected to their host; each takes two connections.")
	descConns   = edgeDesc("connections", "WebSocket connections: one for each host, and two for each of its clients.")
	descOpened  = edgeDesc("lanes_opened_total", "Clients that were connected to their host.")
	descBytes   = edgeDesc("bytes_total", "Forwarded payload in bytes.", "to")
	descSlow    = edgeDesc("slow_total", "Lanes closed because the host or the client did not read.")
	descEvicted = edgeDesc("evicted_total", "Lanes closed to make space for others who opened the same link.")
	descRefused = edgeDesc("refused_total", "Refused requests and connections.", "reason")
)

func edgeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ahp_relay_"+name, help, labels, nil)
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
