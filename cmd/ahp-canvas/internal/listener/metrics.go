package listener

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// Metric is one number.
type Metric struct {
	name, help string
	desc       *prometheus.Desc
	kind       prometheus.ValueType
	value      func() float64
}

// Gauge returns a metric that can go down.
func Gauge(name, help string, value func() float64) Metric {
	return newMetric(prometheus.GaugeValue, name, help, value)
}

// Counter returns a metric that only grows.
func Counter(name, help string, value func() float64) Metric {
	return newMetric(prometheus.CounterValue, name, help, value)
}

// Labeled returns a Gauge with a label. Metrics of one name differ in its value.
func Labeled(name, help, label, is string, value func() float64) Metric {
	return Metric{name, help, prometheus.NewDesc(name, help, nil, prometheus.Labels{label: is}), prometheus.GaugeValue, value}
}

// LabeledCounter returns a Counter with a label.
func LabeledCounter(name, help, label, is string, value func() float64) Metric {
	return Metric{name, help, prometheus.NewDesc(name, help, nil, prometheus.Labels{label: is}), prometheus.CounterValue, value}
}

func newMetric(kind prometheus.ValueType, name, help string, value func() float64) Metric {
	return Metric{name, help, prometheus.NewDesc(name, help, nil, nil), kind, value}
}

// Metrics is a collector of such numbers.
type Metrics []Metric

// Description says what a metric counts.
type Description struct {
	// Name is its name in /metrics.
	Name string
	// Kind is gauge or counter.
	Kind string
	// Help says what it counts.
	Help string
}

// Descriptions returns one description for each name.
func (m Metrics) Descriptions() (all []Description) {
	for _, one := range m {
		d := Description{one.name, "gauge", one.help}
		if one.kind == prometheus.CounterValue {
			d.Kind = "counter"
		}
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// Describe implements prometheus.Collector.
func (m Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range m {
		ch <- one.desc
	}
}

// Collect implements prometheus.Collector.
func (m Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, one := range m {
		ch <- prometheus.MustNewConstMetric(one.desc, one.kind, one.value())
	}
}

// HTTPMetrics are the numbers of an HTTP listener, their names below a prefix.
func HTTPMetrics(prefix string, stats func() web.ConnStats) Metrics {
	return Metrics{
		Gauge(prefix+"http_connections", "Open HTTP connections other than WebSockets.", func() float64 { return float64(stats().Open) }),
		Gauge(prefix+"http_connections_max", "Limit of HTTP connections (--max-http).", func() float64 { return float64(stats().Max) }),
		Counter(prefix+"http_refused_total", "HTTP connections refused because the limit was reached and none was idle.", func() float64 { return float64(stats().Refused) }),
		Counter(prefix+"http_ended_total", "Idle HTTP connections closed in favor of new ones.", func() float64 { return float64(stats().Evicted) }),
	}
}
