package relay

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/natsdir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
)

// metrics returns the collector of the relay's numbers.
func (s *server) metrics() prometheus.Collector {
	if s.dir == nil {
		return edgeMetrics{edge: s.edge}
	}
	return edgeMetrics{s.edge, s.dir.Stats}
}

// edgeMetrics are a relay's numbers. Their only label is the reason of a refusal, which has
// one value for each reason that package ahp/relay knows, and the result of a signal.
type edgeMetrics struct {
	edge  *relay.Edge
	fleet func() natsdir.Stats // nil if this relay is alone
}

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
	{Name: "ahp_relay_superseded_total", Kind: "counter", Help: "Registrations that a later one replaced."},
	{Name: "ahp_relay_draining", Kind: "gauge", Help: "1 while the relay drains."},
	{Name: "ahp_relay_join_seconds", Kind: "histogram", Help: "Time from the arrival of a client to its connection with the host."},
	{Name: "ahp_relay_nats_connected", Kind: "gauge", Help: "1 while NATS can be reached."},
	{Name: "ahp_relay_edges", Kind: "gauge", Help: "Other edges of the fleet that sent a sign of life recently."},
	{Name: "ahp_relay_signals_total", Kind: "counter", Help: "Offers of lanes to other edges."},
	{Name: "ahp_relay_signals_received_total", Kind: "counter", Help: "Offers of lanes from other edges."},
	{Name: "ahp_relay_signals_refused_total", Kind: "counter", Help: "Offers from other edges with a URL that --edges does not allow."},
	{Name: "ahp_relay_registrations_announced_total", Kind: "counter", Help: "Registrations that were announced again."},
	{Name: "ahp_relay_nats_dropped_total", Kind: "counter", Help: "How often messages from NATS were dropped because this relay took them too slowly."},
	{Name: "ahp_relay_nats_disconnects_total", Kind: "counter", Help: "Lost connections to NATS."},
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
	descOlder   = edgeDesc("ahp_relay_superseded_total")
	descDrains  = edgeDesc("ahp_relay_draining")
	descJoined  = edgeDesc("ahp_relay_join_seconds")
	descNATS    = edgeDesc("ahp_relay_nats_connected")
	descEdges   = edgeDesc("ahp_relay_edges")
	descSignals = edgeDesc("ahp_relay_signals_total", "result")
	descHeard   = edgeDesc("ahp_relay_signals_received_total")
	descForeign = edgeDesc("ahp_relay_signals_refused_total")
	descAgain   = edgeDesc("ahp_relay_registrations_announced_total")
	descDropped = edgeDesc("ahp_relay_nats_dropped_total")
	descLost    = edgeDesc("ahp_relay_nats_disconnects_total")
	descRefused = edgeDesc("ahp_relay_refused_total", "reason")
)

// edgeDesc returns the descriptor of a number.
func edgeDesc(name string, labels ...string) *prometheus.Desc {
	i := slices.IndexFunc(edgeNumbers, func(d listener.Description) bool { return d.Name == name })
	return prometheus.NewDesc(name, edgeNumbers[i].Help, labels, nil)
}

// Metrics describes the numbers that a relay publishes at --admin.
func Metrics() []listener.Description {
	all := append(slices.Clone(edgeNumbers), listener.HTTPMetrics("ahp_relay_", nil).Descriptions()...)
	return append(all, listener.NewSpans("ahp_relay_", nil).Descriptions()...)
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
	put(descOlder, prometheus.CounterValue, float64(s.Superseded))
	put(descDrains, prometheus.GaugeValue, number(s.Draining))
	ch <- joined(s.Joined)
	if m.fleet != nil {
		m.collectFleet(put)
	}
	for reason, n := range s.Refused {
		put(descRefused, prometheus.CounterValue, float64(n), string(reason))
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// joined returns a histogram in seconds, with cumulative counts.
func joined(h relay.Histogram) prometheus.Metric {
	buckets, n := map[float64]uint64{}, uint64(0)
	for i, count := range h.Counts {
		n += count
		if i < len(relay.JoinedBuckets) {
			buckets[relay.JoinedBuckets[i].Seconds()] = n
		}
	}
	return prometheus.MustNewConstHistogram(descJoined, n, h.Sum.Seconds(), buckets)
}

// collectFleet collects what an edge of a fleet has in addition.
func (m edgeMetrics) collectFleet(put func(*prometheus.Desc, prometheus.ValueType, float64, ...string)) {
	s := m.fleet()
	put(descNATS, prometheus.GaugeValue, number(s.State == natsdir.Connected))
	put(descEdges, prometheus.GaugeValue, float64(s.Edges))
	put(descSignals, prometheus.CounterValue, float64(s.Answered), "answered")
	put(descSignals, prometheus.CounterValue, float64(s.Unanswered), "unanswered")
	put(descSignals, prometheus.CounterValue, float64(s.Offline), "offline")
	put(descSignals, prometheus.CounterValue, float64(s.Unavailable), "unavailable")
	put(descHeard, prometheus.CounterValue, float64(s.Received))
	put(descForeign, prometheus.CounterValue, float64(s.Refused))
	put(descAgain, prometheus.CounterValue, float64(s.Announced))
	put(descDropped, prometheus.CounterValue, float64(s.Dropped))
	put(descLost, prometheus.CounterValue, float64(s.Disconnects))
}
