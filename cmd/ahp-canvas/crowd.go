package main

import (
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// crowding is how many connections a host or a relay takes at a time.
type crowding struct {
	ahp     int // AHP connections; at a relay the clients that it joins with hosts
	http    int
	hosts   int                    // at a relay: their control connections
	sockets int                    // of this program for one of ahp: at a relay a second one, to the host
	given   func(flag string) bool // whether a flag was given
	refused string                 // the code where the limit of open files does not allow it
}

func (c *crowding) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&c.ahp, "max-connections", host.DefaultMaxConnections, "AHP connections at a time: pages and clients, a relay's included; the default gives way to the limit of open files")
	httpFlag(cmd, &c.http)
	c.sockets, c.given, c.refused = 1, cmd.Flags().Changed, codeNotStarted
}

// relayFlags is flags for a relay, which bounds clients and hosts by itself.
func (c *crowding) relayFlags(cmd *cobra.Command) {
	httpFlag(cmd, &c.http)
	c.ahp, c.hosts, c.sockets = relay.DefaultMaxLanes, relay.DefaultMaxHosts, 2
	c.given, c.refused = cmd.Flags().Changed, codeRelayNotStarted
}

func (c *crowding) check() error {
	if c.ahp < 1 {
		return tooFew("--max-connections", c.ahp)
	}
	if c.http < 1 {
		return tooFew("--max-http", c.http)
	}
	return nil
}

// httpFlag adds the flag of what a web.ConnLimiter counts.
func httpFlag(cmd *cobra.Command, into *int) {
	cmd.Flags().IntVar(into, "max-http", web.DefaultMaxConns, "HTTP connections at a time that are no WebSockets: of pages, of agents, and of whoever has shown no token yet; the default gives way to the limit of open files")
}

// spareFiles are for what is no connection of people or agents: the store, listeners,
// extensions with their pipes, connections to web apps. Of a small limit it is an
// eighth.
const spareFiles = 512

// within returns what there is room for in a process that may have so many files
// open; 0 is unknown. A default gives way, and what was asked for and cannot be met is
// refused: the program would run out of files just when it is full.
func (c crowding) within(files uint64) (crowding, error) {
	if files == 0 || files > 1<<32 { // as good as no limit
		return c, nil
	}
	most := int(files)
	if !c.given("max-http") {
		c.http = min(c.http, most/8)
	}
	c.hosts = min(c.hosts, most/8)
	room := (most - min(spareFiles, most/8) - c.http - c.hosts) / c.sockets
	if room < 1 || c.ahp > room && c.given("max-connections") {
		return c, failf(c.refused, "%s need %d open files, and this program may have %d: raise its limit (ulimit -n, or LimitNOFILE of its systemd unit), or give lower numbers",
			c.words(), uint64(c.ahp)*uint64(c.sockets)+uint64(c.hosts)+uint64(c.http)+spareFiles, files)
	}
	c.ahp = min(c.ahp, room)
	return c, nil
}

// words are what a crowding is made of, for people.
func (c crowding) words() string {
	if c.hosts > 0 {
		return fmt.Sprintf("--max-http %d, %d clients and %d hosts", c.http, c.ahp, c.hosts)
	}
	return fmt.Sprintf("--max-connections %d and --max-http %d", c.ahp, c.http)
}

// fit is within, and says so where fewer are taken than usual.
func (c crowding) fit(files uint64, logger *slog.Logger) (crowding, error) {
	fits, err := c.within(files)
	if err == nil && (fits.ahp < c.ahp || fits.http < c.http || fits.hosts < c.hosts) {
		numbers := []any{"files", files, "max_connections", fits.ahp, "max_http", fits.http}
		if c.hosts > 0 {
			numbers = append(numbers, "max_hosts", fits.hosts)
		}
		logger.Warn("fewer connections than usual are taken: this program may have too few open files (ulimit -n, or LimitNOFILE of its systemd unit)", numbers...)
	}
	return fits, err
}

func tooFew(flag string, n int) error {
	return &usage{text: fmt.Sprintf("%s %d: give a number above 0", flag, n)}
}

// crowdMetrics are the numbers of a listener, below prefix.
func crowdMetrics(prefix string, stats func() web.ConnStats) metrics {
	counter := prometheus.CounterValue
	return metrics{
		metricOf(prefix+"http_connections", "HTTP connections that are open, beside WebSockets.", prometheus.GaugeValue, func() float64 { return float64(stats().Open) }),
		metricOf(prefix+"http_connections_max", "How many of them there may be (--max-http).", prometheus.GaugeValue, func() float64 { return float64(stats().Max) }),
		metricOf(prefix+"http_refused_total", "HTTP connections that were refused, because all others were busy.", counter, func() float64 { return float64(stats().Refused) }),
		metricOf(prefix+"http_ended_total", "Quiet HTTP connections that were ended to make room.", counter, func() float64 { return float64(stats().Evicted) }),
	}
}
