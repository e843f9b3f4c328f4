package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// relaying is what a relay is started with.
type relaying struct {
	listen        string
	tokens        string
	cert, key     string
	origins       []string
	contentOrigin string
	admin         admin
	crowding      crowding
	logLevel      slog.Level
}

func (a *app) relayCommand() *cobra.Command {
	var o relaying
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Join clients with hosts that nobody can dial",
		Long: `Run a relay on a machine that hosts and clients both reach. A host dials it
(ahp-canvas serve --relay) and stays registered; who opens the host's link comes
in through the relay, which serves the page and forwards messages that it does
not understand. It keeps nothing: it may be stopped and started at any time.

Off loopback it wants TLS, and the address that people use (--origin). Canvases
that load further files need origins of their own: a wildcard name that leads
here, in the certificate too (--content-origin).

Who runs a relay can see what passes through it.

With --json the first line is one object: {"page","relay","pid"}`,
		Example: `  ahp-canvas relay --tokens tokens.json
  ahp-canvas relay --listen :8443 --tokens tokens.json \
    --tls-cert cert.pem --tls-key key.pem --origin https://relay.example:8443 \
    --content-origin 'https://*.canvas.example:8443'`,
		Args: takes(),
		RunE: does(func(ctx context.Context, _ []string) error { return a.relay(ctx, o) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8443", "address to listen on; port 0 is a free one")
	f.StringVar(&o.tokens, "tokens", "", "file of token hashes, see relay token; changes are picked up")
	f.StringVar(&o.cert, "tls-cert", "", "file of the certificate and its chain; renewed files are picked up")
	f.StringVar(&o.key, "tls-key", "", "file of the certificate's key")
	f.StringArrayVar(&o.origins, "origin", nil, "address under which people reach the relay, as in https://relay.example (repeatable)")
	f.StringVar(&o.contentOrigin, "content-origin", "", "pattern of the origins that canvases get, as in https://*.canvas.example (plain loopback needs none)")
	o.admin.flags(cmd)
	o.crowding.relayFlags(cmd)
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "the least `level` that is logged to standard error: debug, info, warn or error")
	must(cmd.MarkFlagRequired("tokens"))
	for _, name := range []string{"tokens", "tls-cert", "tls-key"} {
		must(cmd.MarkFlagFilename(name))
	}
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	a.jsonFlag(cmd)
	cmd.AddCommand(a.relayTokenCommand())
	return cmd
}

// relay serves until ctx is done.
func (a *app) relay(ctx context.Context, o relaying) (err error) {
	line := a.withStatusLine()
	logger := newLogger(a.errs, o.logLevel)
	if err := errors.Join(o.admin.check(), o.crowding.check()); err != nil {
		return err
	}
	if o.crowding, err = o.crowding.fit(openFiles(), logger); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return startError(codeRelayNotStarted, o.listen, err)
	}
	defer ln.Close()
	s, err := o.server(ln, logger)
	if err != nil {
		return err
	}
	stopAdmin, err := o.admin.start(logger, edgeMetrics{s.edge}, crowdMetrics("ahp_relay_", s.crowd.Stats))
	if err != nil {
		return err
	}
	defer stopAdmin()
	if err := a.greetRelay(s.at); err != nil {
		return err
	}
	return s.run(ctx, line)
}

// relayAddresses is under which names a relay is known.
type relayAddresses struct {
	origins, hosts []string
	loopback       bool
}

// addresses derives the names from the flags and the listener, as a host does.
func (o relaying) addresses(addr net.Addr) (relayAddresses, error) {
	var at relayAddresses
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return at, err
	}
	ip := net.ParseIP(host)
	at.loopback = ip != nil && ip.IsLoopback()
	scheme := "http"
	if o.cert != "" {
		scheme = "https"
	}
	for _, origin := range o.origins {
		at.origins = append(at.origins, strings.TrimSuffix(strings.ToLower(origin), "/"))
	}
	switch {
	case !at.loopback && o.cert == "":
		return at, &usage{text: "off loopback a relay wants TLS: give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that has it"}
	case !at.loopback && len(at.origins) == 0:
		return at, &usage{text: "say under which address people reach the relay, as in --origin https://relay.example:" + port}
	case at.loopback:
		at.origins = append(at.origins, scheme+"://localhost:"+port, scheme+"://"+net.JoinHostPort(host, port))
	}
	for _, origin := range at.origins {
		u, err := url.Parse(origin)
		if err != nil {
			continue // the page's handler says what is wrong with it
		}
		at.hosts = append(at.hosts, u.Host)
	}
	return at, nil
}

// relayLine is the first line of relay --json.
type relayLine struct {
	Page  string `json:"page"`
	Relay string `json:"relay"`
	PID   int    `json:"pid"`
}

func (a *app) greetRelay(at relayAddresses) error {
	page := at.origins[0] + "/"
	to := "ws" + strings.TrimPrefix(page, "http")
	if a.json {
		return printLine(a.out, relayLine{page, to, os.Getpid()})
	}
	if !isTerminal(a.out) {
		_, err := fmt.Fprintln(a.out, to)
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n  hosts   ahp-canvas serve --relay %s --relay-token-file FILE\n  stop    Ctrl-C\n\n", to)
	return err
}

// followEdge shows how a relay stands until ctx is done.
func (l *statusLine) followEdge(ctx context.Context, edge *relay.Edge) {
	defer l.set("")
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		s := edge.Stats()
		l.set(fmt.Sprintf("  hosts %d, clients %d, waiting %d", s.Hosts, s.Lanes, s.Waiting))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
