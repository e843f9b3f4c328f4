package listener

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// OTLP is where traces go.
type OTLP struct {
	// URL is the address of a collector; "" for none.
	URL string
}

// Flag adds --otlp, which exports traces of what.
func (o *OTLP) Flag(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&o.URL, "otlp", "", "`URL` of an OpenTelemetry collector that receives traces of "+what+", as in http://localhost:4318 (default: none)")
}

// Check finds a wrong URL before anything is started.
func (o OTLP) Check() error {
	t, err := o.Tracer("", nil)
	CloseTracer(t)
	return err
}

// Tracer returns nil without a URL.
func (o OTLP) Tracer(version string, logger *slog.Logger) (*trace.Tracer, error) {
	if o.URL == "" {
		return nil, nil
	}
	t, err := trace.New(trace.Options{URL: o.URL, Service: "ahp-canvas", Version: version, Logger: logger})
	if err != nil {
		return nil, term.Usagef("--otlp: %v", err)
	}
	return t, nil
}

// CloseTracer exports what is left, but does not let a collector delay the end for long.
func CloseTracer(t *trace.Tracer) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	t.Close(ctx)
}

// Spans is a collector of how long traced work took. Each bucket of its histograms has a
// trace as an exemplar, which scrapers of OpenMetrics read.
type Spans struct {
	prefix string
	tracer *trace.Tracer
}

// NewSpans returns the collector of a tracer, with names below a prefix. Without a tracer it
// has no numbers, and can be described.
func NewSpans(prefix string, t *trace.Tracer) Spans { return Spans{prefix, t} }

// Descriptions returns a description of each number.
func (s Spans) Descriptions() []Description {
	return []Description{
		{s.prefix + "span_seconds", "histogram", "How long traced work took (--otlp), by the name of its spans; with traces as exemplars."},
		{s.prefix + "spans_dropped_total", "counter", "Spans that did not reach the collector."},
	}
}

// Describe implements prometheus.Collector.
func (s Spans) Describe(ch chan<- *prometheus.Desc) {
	ch <- s.desc(0, "span")
	ch <- s.desc(1)
}

func (s Spans) desc(i int, labels ...string) *prometheus.Desc {
	d := s.Descriptions()[i]
	return prometheus.NewDesc(d.Name, d.Help, labels, nil)
}

// Collect implements prometheus.Collector.
func (s Spans) Collect(ch chan<- prometheus.Metric) {
	if s.tracer == nil {
		return
	}
	ch <- prometheus.MustNewConstMetric(s.desc(1), prometheus.CounterValue, float64(s.tracer.Dropped()))
	for _, d := range s.tracer.Durations() {
		ch <- histogram(s.desc(0, "span"), d)
	}
}

// histogram returns durations in seconds, with cumulative counts.
func histogram(desc *prometheus.Desc, d trace.Durations) prometheus.Metric {
	buckets, n := map[float64]uint64{}, uint64(0)
	var examples []prometheus.Exemplar
	for i, count := range d.Counts {
		if n += count; i < len(trace.Buckets) {
			buckets[trace.Buckets[i].Seconds()] = n
		}
		if e := d.Exemplars[i]; e.TraceID != "" {
			examples = append(examples, prometheus.Exemplar{Value: e.Took.Seconds(), Labels: prometheus.Labels{"trace_id": e.TraceID}, Timestamp: e.Ended})
		}
	}
	m := prometheus.MustNewConstHistogram(desc, n, d.Sum.Seconds(), buckets, d.Name)
	if len(examples) == 0 {
		return m
	}
	return prometheus.MustNewMetricWithExemplars(m, examples...)
}
