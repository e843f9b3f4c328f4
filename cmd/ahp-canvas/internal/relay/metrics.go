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

// number is one of the numbers.
type number struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// edgeNumbers describes all numbers; define adds to it.
var edgeNumbers []listener.Description

func define(kind, name, help string, labels ...string) number {
	edgeNumbers = append(edgeNumbers, listener.Description{Name: name, Kind: kind, Help: help})
	n := number{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
	if kind == "counter" {
		n.kind = prometheus.CounterValue
	}
	return n
}

var (
	numberHosts   = define("gauge", "ahp_relay_hosts", "Registered hosts.")
	numberWaiting = define("gauge", "ahp_relay_lanes_waiting", "Clients that wait for their host to connect.")
	numberLanes   = define("gauge", "ahp_relay_lanes", "Clients that are connected to their host; each takes two connections.")
	numberConns   = define("gauge", "ahp_relay_connections", "WebSocket connections: one for each host, and two for each of its clients.")
	numberOpened  = define("counter", "ahp_relay_lanes_opened_total", "Clients that were connected to their host.")
	numberBytes   = define("counter", "ahp_relay_bytes_total", "Forwarded payload in bytes.", "to")
	numberSlow    = define("counter", "ahp_relay_slow_total", "Lanes closed because the host or the client did not read.")
	numberEvicted = define("counter", "ahp_relay_evicted_total", "Lanes closed to make space for others who opened the same link.")
	numberOlder   = define("counter", "ahp_relay_superseded_total", "Registrations that a later one replaced.")
	numberDrains  = define("gauge", "ahp_relay_draining", "1 while the relay drains.")
	numberJoined  = define("histogram", "ahp_relay_join_seconds", "Time from the arrival of a client to its connection with the host.")
	numberNATS    = define("gauge", "ahp_relay_nats_connected", "1 while NATS can be reached.")
	numberEdges   = define("gauge", "ahp_relay_edges", "Other edges of the fleet that sent a sign of life recently.")
	numberSignals = define("counter", "ahp_relay_signals_total", "Offers of lanes to other edges.", "result")
	numberHeard   = define("counter", "ahp_relay_signals_received_total", "Offers of lanes from other edges.")
	numberForeign = define("counter", "ahp_relay_signals_refused_total", "Offers from other edges with a URL that --edges does not allow.")
	numberAgain   = define("counter", "ahp_relay_registrations_announced_total", "Registrations that were announced again.")
	numberDropped = define("counter", "ahp_relay_nats_dropped_total", "How often messages from NATS were dropped because this relay took them too slowly.")
	numberLost    = define("counter", "ahp_relay_nats_disconnects_total", "Lost connections to NATS.")
	numberRefused = define("counter", "ahp_relay_refused_total", "Refused requests and connections.", "reason")
)

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
	put := func(n number, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(n.desc, n.kind, v, labels...)
	}
	put(numberHosts, float64(s.Hosts))
	put(numberWaiting, float64(s.Waiting))
	put(numberLanes, float64(s.Lanes))
	put(numberConns, float64(s.Hosts+s.Waiting+2*s.Lanes))
	put(numberOpened, float64(s.LanesOpened))
	put(numberBytes, float64(s.BytesToHosts), "host")
	put(numberBytes, float64(s.BytesToClient), "client")
	put(numberSlow, float64(s.Slow))
	put(numberEvicted, float64(s.Evicted))
	put(numberOlder, float64(s.Superseded))
	put(numberDrains, oneIf(s.Draining))
	ch <- joined(s.Joined)
	if m.fleet != nil {
		m.collectFleet(put)
	}
	for reason, n := range s.Refused {
		put(numberRefused, float64(n), string(reason))
	}
}

func oneIf(b bool) float64 {
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
	return prometheus.MustNewConstHistogram(numberJoined.desc, n, h.Sum.Seconds(), buckets)
}

// collectFleet collects what an edge of a fleet has in addition.
func (m edgeMetrics) collectFleet(put func(number, float64, ...string)) {
	s := m.fleet()
	put(numberNATS, oneIf(s.State == natsdir.Connected))
	put(numberEdges, float64(s.Edges))
	put(numberSignals, float64(s.Answered), "answered")
	put(numberSignals, float64(s.Unanswered), "unanswered")
	put(numberSignals, float64(s.Offline), "offline")
	put(numberSignals, float64(s.Unavailable), "unavailable")
	put(numberHeard, float64(s.Received))
	put(numberForeign, float64(s.Refused))
	put(numberAgain, float64(s.Announced))
	put(numberDropped, float64(s.Dropped))
	put(numberLost, float64(s.Disconnects))
}
