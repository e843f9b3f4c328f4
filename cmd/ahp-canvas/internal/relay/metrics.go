package relay

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/natsdir"
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

var (
	descHosts   = edgeDesc("hosts", "Registered hosts.")
	descWaiting = edgeDesc("lanes_waiting", "Clients that wait for their host to connect.")
	descLanes   = edgeDesc("lanes", "Clients that are connected to their host; each takes two connections.")
	descConns   = edgeDesc("connections", "WebSocket connections: one for each host, and two for each of its clients.")
	descOpened  = edgeDesc("lanes_opened_total", "Clients that were connected to their host.")
	descBytes   = edgeDesc("bytes_total", "Forwarded payload in bytes.", "to")
	descSlow    = edgeDesc("slow_total", "Lanes closed because the host or the client did not read.")
	descEvicted = edgeDesc("evicted_total", "Lanes closed to make space for others who opened the same link.")
	descOlder   = edgeDesc("superseded_total", "Registrations that a later one replaced.")
	descDrains  = edgeDesc("draining", "1 while the relay drains.")
	descJoined  = edgeDesc("join_seconds", "Time from the arrival of a client to its connection with the host.")
	descNATS    = edgeDesc("nats_connected", "1 while NATS can be reached.")
	descEdges   = edgeDesc("edges", "Other edges of the fleet that sent a sign of life recently.")
	descSignals = edgeDesc("signals_total", "Offers of lanes to other edges.", "result")
	descHeard   = edgeDesc("signals_received_total", "Offers of lanes from other edges.")
	descForeign = edgeDesc("signals_refused_total", "Offers from other edges with a URL that --edges does not allow.")
	descAgain   = edgeDesc("registrations_announced_total", "Registrations that were announced again.")
	descDropped = edgeDesc("nats_dropped_total", "How often messages from NATS were dropped because this relay took them too slowly.")
	descLost    = edgeDesc("nats_disconnects_total", "Lost connections to NATS.")
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
