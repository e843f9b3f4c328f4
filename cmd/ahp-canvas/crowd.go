package main

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// crowding is how many connections a host takes at a time.
type crowding struct{ ahp, http int }

func (c *crowding) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&c.ahp, "max-connections", host.DefaultMaxConnections, "AHP connections at a time: pages and clients, a relay's included")
	httpFlag(cmd, &c.http)
}

// httpFlag adds the flag of what a web.Crowd counts.
func httpFlag(cmd *cobra.Command, into *int) {
	cmd.Flags().IntVar(into, "max-http", web.DefaultMaxHTTP, "HTTP connections at a time that are no WebSockets: of pages, of agents, and of whoever has shown no token yet")
}

func (c *crowding) check() error {
	if c.ahp < 1 {
		return tooFew("--max-connections", c.ahp)
	}
	return checkHTTP(c.http)
}

func checkHTTP(n int) error {
	if n < 1 {
		return tooFew("--max-http", n)
	}
	return nil
}

func tooFew(flag string, n int) error {
	return &usage{text: fmt.Sprintf("%s %d: give a number above 0", flag, n)}
}

// crowdMetrics are the numbers of a listener, below prefix.
func crowdMetrics(prefix string, stats func() web.CrowdStats) metrics {
	counter := prometheus.CounterValue
	return metrics{
		metricOf(prefix+"http_connections", "HTTP connections that are open, beside WebSockets.", prometheus.GaugeValue, func() float64 { return float64(stats().Open) }),
		metricOf(prefix+"http_connections_max", "How many of them there may be (--max-http).", prometheus.GaugeValue, func() float64 { return float64(stats().Max) }),
		metricOf(prefix+"http_refused_total", "HTTP connections that were refused, because all others were busy.", counter, func() float64 { return float64(stats().Refused) }),
		metricOf(prefix+"http_ended_total", "Quiet HTTP connections that were ended to make room.", counter, func() float64 { return float64(stats().Ended) }),
	}
}
