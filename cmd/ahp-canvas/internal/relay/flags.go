package relay

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// options are the flags of relay.
type options struct {
	listen        string
	tokens        string
	cert, key     string
	origins       []string
	contentOrigin string
	admin         listener.Admin
	otlp          listener.OTLP
	limits        listener.Limits
	fleet         fleet
	logLevel      slog.Level
}

func (o *options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8443", "`address` to listen on; port 0 means a free one")
	f.StringVar(&o.tokens, "tokens", "", "`file` of token hashes, which \"relay token\" writes; changes take effect without a restart")
	f.StringVar(&o.cert, "tls-cert", "", "`file` with the certificate and its chain; a renewed one takes effect without a restart")
	f.StringVar(&o.key, "tls-key", "", "`file` with the certificate's private key")
	f.StringArrayVar(&o.origins, "origin", nil, "`URL` at which people reach the relay, as in https://relay.example (repeatable)")
	f.StringVar(&o.contentOrigin, "content-origin", "", "`pattern` of the origins that canvases get, as in https://*.canvas.example (not needed on loopback without TLS)")
	o.fleet.flags(cmd)
	o.admin.Flags(cmd, term.CodeRelayNotStarted)
	o.otlp.Flag(cmd, "lanes")
	o.limits.HTTPFlag(cmd)
	o.limits.ProxyFlag(cmd)
	o.limits.AHP, o.limits.Hosts, o.limits.Sockets = relay.DefaultMaxLanes, relay.DefaultMaxHosts, 2
	o.limits.Given, o.limits.Code = f.Changed, term.CodeRelayNotStarted
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "lowest `level` to log to standard error: debug, info, warn or error")
	term.Must(cmd.MarkFlagRequired("tokens"))
	for _, name := range []string{"tokens", "tls-cert", "tls-key"} {
		term.Must(cmd.MarkFlagFilename(name))
	}
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
}
