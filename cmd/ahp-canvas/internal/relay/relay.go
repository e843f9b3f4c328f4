package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Command returns relay, with relay token.
func Command(env *term.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Connect clients to hosts that have no reachable address",
		Long: `Run a relay on a machine that hosts and their clients can both reach.

A host connects to the relay (ahp-canvas serve --relay) and stays registered.
People who open the host's link get the page from the relay, which forwards
messages between them and the host without interpreting them. It stores nothing,
so it can be stopped and started at any time.

Beyond loopback, the relay requires TLS and the address that people use
(--origin). Canvases of more than one file also need origins of their own: a
wildcard name that resolves to the relay and is in its certificate
(--content-origin).

Clients and hosts encrypt what passes through a relay. Its operator sees who
connects to which host and when, and the tokens with which they do, but these
tokens open nothing at the host: a link also has a token of the host, which the
relay does not learn. People can have an invitation instead (ahp-canvas link
--invite), and an editor a token (ahp-canvas token create). Who serves the page
can change it: if you do not trust the operator, use ahp-canvas view LINK.

Several relays can be one: give each --nats, so that they find each other's
hosts, --advertise, so that hosts reach each, and the same --edges, and put them
behind a load balancer or DNS. Signed tokens (--token-key) need no common file.
On SIGTERM such a relay moves its connections to the others (--drain). The
README of ahp/relay shows a whole fleet.

With --json the first line is one object: {"page","relay","pid"}`,
		Example: `  ahp-canvas relay --tokens tokens.json
  ahp-canvas relay --listen :8443 --tokens tokens.json \
    --tls-cert cert.pem --tls-key key.pem --origin https://relay.example:8443 \
    --content-origin 'https://*.canvas.example:8443'`,
		Args: requireOneOf("token-key", term.Args()),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return run(ctx, env, o) }),
	}
	o.flags(cmd)
	env.JSONFlag(cmd)
	cmd.AddCommand(tokenCommand(env))
	return cmd
}

// run serves a relay until ctx is canceled.
func run(ctx context.Context, env *term.Env, o options) (err error) {
	line := env.StatusLine()
	logger := env.Logger(o.logLevel)
	if err := o.check(); err != nil {
		return err
	}
	if o.limits, err = o.limits.Fit(logger); err != nil {
		return err
	}
	ln, err := listen(env, o.listen)
	if err != nil {
		return err
	}
	defer ln.Close()
	tracer, _ := o.otlp.Tracer(env.Version, logger) // checked
	defer listener.CloseTracer(tracer)
	s, err := newServer(o, ln, tracer, logger)
	if err != nil {
		return err
	}
	defer s.leave()
	o.admin.Health, o.admin.Degraded = s.health, s.degraded
	stopAdmin, err := o.admin.Start(logger, s.metrics(), listener.HTTPMetrics("ahp_relay_", s.limiter.Stats), listener.NewSpans("ahp_relay_", tracer))
	if err != nil {
		return err
	}
	defer stopAdmin()
	if err := greet(env, s.names); err != nil {
		return err
	}
	env.Manager.Ready("serving " + s.names.origins[0] + "/")
	defer env.Manager.StoppingOn(ctx)()
	return s.run(ctx, line)
}

// check rejects values that no relay can start with.
func (o *options) check() error {
	return errors.Join(listener.CheckAddress("--listen", o.listen), listener.CheckOrigins(o.origins, o.contentOrigin),
		o.admin.Check(), o.limits.Check(), o.fleet.check(), o.otlp.Check())
}

// listen takes the listener of the service manager, or opens one at --listen.
func listen(env *term.Env, address string) (net.Listener, error) {
	ln, err := env.Manager.Listener()
	if err != nil {
		return nil, term.Failf(term.CodeRelayNotStarted, "%v", err)
	}
	if ln != nil {
		return ln, nil
	}
	ln, err = net.Listen("tcp", address)
	return ln, listener.Error(term.CodeRelayNotStarted, "--listen", address, err)
}

// Line is the first line of relay --json.
type Line struct {
	// Page is the URL of the relay's page.
	Page string `json:"page"`
	// Relay is the URL that hosts dial.
	Relay string `json:"relay"`
	// PID is the relay's process id.
	PID int `json:"pid"`
}

func greet(env *term.Env, n names) error {
	page := n.origins[0] + "/"
	to := "ws" + strings.TrimPrefix(page, "http")
	if env.JSON {
		return env.PrintJSON(Line{page, to, os.Getpid()})
	}
	if !term.IsTerminal(env.Out) {
		_, err := fmt.Fprintln(env.Out, to)
		return err
	}
	_, err := fmt.Fprintf(env.Out, "\n  hosts   ahp-canvas serve --relay %s --relay-token-file FILE\n  stop    Ctrl-C\n\n", to)
	return err
}
