package listener

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Limits are how many connections a host or a relay has at a time.
type Limits struct {
	// AHP counts the clients: AHP connections of a host, or clients that a relay joins
	// with hosts.
	AHP int
	// HTTP counts the HTTP connections that are not WebSockets.
	HTTP int
	// Hosts counts the registered hosts of a relay; 0 for a host.
	Hosts int
	// Sockets is how many sockets one client takes: 1 at a host, 2 at a relay.
	Sockets int
	// Proxies are the addresses and networks of --trusted-proxy.
	Proxies []string
	// Given reports whether the user gave a flag.
	Given func(flag string) bool
	// Code is the code of the error if the limits do not fit.
	Code string
}

// HTTPFlag adds --max-http.
func (l *Limits) HTTPFlag(cmd *cobra.Command) {
	cmd.Flags().IntVar(&l.HTTP, "max-http", web.DefaultMaxConns, "`limit` of HTTP connections other than WebSockets: pages, agents, and clients without a token; the default is lowered to fit the limit of open files")
}

// ProxyFlag adds --trusted-proxy.
func (l *Limits) ProxyFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&l.Proxies, "trusted-proxy", nil, "`address` or network of a proxy, as in 10.0.0.0/8, whose X-Forwarded-For says where requests come from, for limits by address (repeatable)")
}

// Trusted returns the networks of --trusted-proxy.
func (l *Limits) Trusted() (remote.Proxies, error) {
	p, err := remote.Parse(l.Proxies)
	if err != nil {
		return nil, term.Usagef("--trusted-proxy %v", err)
	}
	return p, nil
}

// Check rejects numbers below 1, and addresses of proxies that are none.
func (l Limits) Check() error {
	if l.AHP < 1 {
		return tooFew("--max-connections", l.AHP)
	}
	if l.HTTP < 1 {
		return tooFew("--max-http", l.HTTP)
	}
	_, err := l.Trusted()
	return err
}

func tooFew(flag string, n int) error { return term.Usagef("%s %d: want a number above 0", flag, n) }

// Fit returns the limits that the process's limit of open files allows. It logs a warning
// if they are lower than the defaults.
func (l Limits) Fit(logger *slog.Logger) (Limits, error) { return l.fit(openFiles(), logger) }

func (l Limits) fit(files uint64, logger *slog.Logger) (Limits, error) {
	fits, err := l.within(files)
	if err == nil && (fits.AHP < l.AHP || fits.HTTP < l.HTTP || fits.Hosts < l.Hosts) {
		numbers := []any{"files", files, "max_connections", fits.AHP, "max_http", fits.HTTP}
		if l.Hosts > 0 {
			numbers = append(numbers, "max_hosts", fits.Hosts)
		}
		numbers = append(numbers, "max_apps", l.apps(files))
		logger.Warn("connection limits are lower than usual to fit the limit of open files (ulimit -n, or LimitNOFILE in the systemd unit)", numbers...)
	}
	return fits, err
}

// spareFiles are for everything else: the store, listeners, extensions with their pipes,
// connections to web apps. Of a small limit it is an eighth, but at least minSpare:
// baseFiles is what the process itself has open, and the rest is for apps.
const (
	spareFiles = 512
	minSpare   = 32
	baseFiles  = 24
)

// spare returns how many of a number of files are not for clients.
func spare(files int) int { return max(min(spareFiles, files/8), minSpare) }

// Apps returns how many connections to web apps and extensions the limit of open files
// allows.
func (l Limits) Apps() int { return l.apps(openFiles()) }

func (l Limits) apps(files uint64) int {
	if files == 0 || files > 1<<32 {
		return spareFiles - baseFiles
	}
	return spare(int(files)) - baseFiles
}

// within returns the limits that fit a number of open files; 0 means that the number is
// unknown. A default is lowered to fit. A number that the user gave and that does not fit
// is refused: the program would run out of files just when it is full.
func (l Limits) within(files uint64) (Limits, error) {
	if files == 0 || files > 1<<32 { // as good as unlimited
		return l, nil
	}
	most := int(files)
	if !l.Given("max-http") {
		l.HTTP = min(l.HTTP, most/8)
	}
	l.Hosts = min(l.Hosts, most/8)
	space := (most - spare(most) - l.HTTP - l.Hosts) / l.Sockets
	if space < 1 || l.AHP > space && l.Given("max-connections") {
		return l, term.Failf(l.Code, "%s need %d open files, but the limit is %d; raise it (ulimit -n, or LimitNOFILE in the systemd unit), or use lower numbers",
			l, uint64(l.AHP)*uint64(l.Sockets)+uint64(l.Hosts)+uint64(l.HTTP)+spareFiles, files)
	}
	l.AHP = min(l.AHP, space)
	return l, nil
}

// String describes the limits for people.
func (l Limits) String() string {
	if l.Hosts > 0 {
		return fmt.Sprintf("--max-http %d, %d clients and %d hosts", l.HTTP, l.AHP, l.Hosts)
	}
	return fmt.Sprintf("--max-connections %d and --max-http %d", l.AHP, l.HTTP)
}
