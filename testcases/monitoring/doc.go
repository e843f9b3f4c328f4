// Package monitoring checks the dashboard and the alerts of cmd/ahp-canvas/packaging against
// the metrics of running programs, with Prometheus's own parser, and their traces with the
// decoder of the OpenTelemetry collector. It is a separate module, so that the product does
// not depend on either.
//
//	go test ./...
//
// It starts a relay of a fleet and a host with --otlp, and reads their /metrics. Each
// expression must parse, each metric and label that it names must exist there, counters
// must be under rate or increase, and gauges must not. A scraper of OpenMetrics must
// receive exemplars, and the collector the spans of an open, an invoke and a lane.
package monitoring
