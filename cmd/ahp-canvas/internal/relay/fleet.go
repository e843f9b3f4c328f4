package relay

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/natsdir"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/signed"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// fleet are the flags of a relay that is one of several edges.
type fleet struct {
	nats             []string
	creds, ca        string
	cert, key        string
	prefix           string
	advertise        string
	edges            []string
	drain            time.Duration
	tokenKeys        []string
	revoked          string
	allowed          relay.Edges // --edges, after check
	givenFlag        func(string) bool
	publicKeys       []ed25519.PublicKey // --token-key, after check
	advertisedAtHost string              // the name and port of --advertise, after check
	advertisedOrigin string              // the origin of a page at --advertise, after check
}

func (o *fleet) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.nats, "nats", nil, "`URL` of a NATS server that all edges of a fleet share, as in tls://nats.example:4222 (repeatable; default: this relay is alone)")
	f.StringVar(&o.creds, "nats-creds", "", "`file` with NATS credentials")
	f.StringVar(&o.ca, "nats-ca", "", "`file` with the certificates that sign those of the NATS servers (default: the system's)")
	f.StringVar(&o.cert, "nats-cert", "", "`file` with a client certificate for NATS")
	f.StringVar(&o.key, "nats-key", "", "`file` with the private key of --nats-cert")
	f.StringVar(&o.prefix, "nats-prefix", "ahp-relay", "`name` with which the NATS subjects of this fleet begin")
	f.StringVar(&o.advertise, "advertise", "", "`URL` at which hosts reach this edge, past any load balancer, as in wss://edge-3.relay.example")
	f.StringArrayVar(&o.edges, "edges", nil, "`pattern` of the --advertise URLs of all edges, as in wss://*.relay.example (repeatable); hosts dial no others")
	f.DurationVar(&o.drain, "drain", time.Minute, "`time` that open connections get to move to other edges when this one stops (without --nats: 0s)")
	f.StringArrayVar(&o.tokenKeys, "token-key", nil, "`file` with a public key: tokens that its private key signed are accepted (\"relay token --sign\"; repeatable)")
	f.StringVar(&o.revoked, "revoked", "", "`file` with the ids of revoked signed tokens, one a line; changes take effect without a restart")
	for _, name := range []string{"nats-creds", "nats-ca", "nats-cert", "nats-key", "token-key", "revoked"} {
		term.Must(cmd.MarkFlagFilename(name))
	}
	cmd.MarkFlagsRequiredTogether("nats-cert", "nats-key")
	o.givenFlag = f.Changed
}

// requireOneOf makes the flag --tokens optional if another one was given. Cobra checks
// required flags after the arguments.
func requireOneOf(other string, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if cmd.Flags().Changed(other) {
			delete(cmd.Flags().Lookup("tokens").Annotations, cobra.BashCompOneRequiredFlag)
		}
		return args(cmd, given)
	}
}

// check checks the flags, and reads the keys.
func (o *fleet) check() (err error) {
	for _, needs := range []string{"nats-creds", "nats-ca", "nats-cert", "nats-prefix", "advertise", "edges"} {
		if o.givenFlag(needs) && len(o.nats) == 0 {
			return term.Usagef("--%s is for an edge of a fleet; give --nats, too", needs)
		}
	}
	for _, f := range [][2]string{{"--nats-creds", o.creds}, {"--nats-ca", o.ca}, {"--nats-cert", o.cert}, {"--nats-key", o.key}} {
		flag, file := f[0], f[1]
		if _, err := os.Stat(file); file != "" && err != nil {
			return term.About(flag, err)
		}
	}
	switch {
	case !natsdir.ValidPrefix(o.prefix):
		return term.Usagef("--nats-prefix %q: want 1 to 4 names of letters, digits, - and _, separated by dots", o.prefix)
	case o.revoked != "" && len(o.tokenKeys) == 0:
		return term.Usagef("--revoked is for signed tokens; give --token-key, too")
	case o.drain < 0:
		return term.Usagef("--drain %s: want a time of 0s or more", o.drain)
	case len(o.nats) == 0 && !o.givenFlag("drain"):
		o.drain = 0
	}
	for _, name := range o.tokenKeys {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("--token-key: %w", err)
		}
		key, err := signed.ParsePublicKey(data)
		if err != nil {
			return fmt.Errorf("--token-key %q: %w; \"ahp-canvas relay token --sign KEY\" writes it as KEY.pub", name, err)
		}
		o.publicKeys = append(o.publicKeys, key)
	}
	if len(o.nats) == 0 {
		return nil
	}
	return o.checkEdges()
}

// checkEdges checks that hosts can and may dial this edge.
func (o *fleet) checkEdges() (err error) {
	if o.advertise == "" || len(o.edges) == 0 {
		return term.Usagef("--nats makes this relay an edge of a fleet; give --advertise and --edges, too")
	}
	if o.allowed, err = relay.ParseEdges(o.edges...); err != nil {
		return term.Usagef("--edges: %s", strings.TrimPrefix(err.Error(), "relay: edges "))
	}
	if !o.allowed.Allows(o.advertise) {
		return term.Usagef("--advertise %q: it is not a URL that --edges allows, so hosts would not dial it", o.advertise)
	}
	u, err := url.Parse(o.advertise)
	if err != nil {
		return err // not for a URL that Allows
	}
	o.advertisedAtHost, o.advertisedOrigin = u.Host, "http"+strings.TrimPrefix(u.Scheme, "ws")+"://"+u.Host
	return nil
}

// directory connects to NATS; nil if this relay is alone.
func (o *fleet) directory(logger *slog.Logger) (*natsdir.Directory, error) {
	if len(o.nats) == 0 {
		return nil, nil
	}
	for _, at := range o.nats {
		if u, err := url.Parse(at); err == nil && (u.Scheme == "nats" || u.Scheme == "ws") && !isLoopback(u.Hostname()) {
			logger.Warn("the connection to NATS can be unencrypted; unless you trust the network, use tls://")
			break
		}
	}
	d, err := natsdir.Open(natsdir.Options{
		URLs: o.nats, Creds: o.creds, CA: o.ca, Cert: o.cert, Key: o.key, Prefix: o.prefix, Edges: o.allowed, Logger: logger,
	})
	if err != nil {
		return nil, term.About("--nats", err)
	}
	return d, nil
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// signedTokens returns the authorizer of signed tokens; nil without --token-key.
func (o *fleet) signedTokens(logger *slog.Logger) (*signed.Authorizer, error) {
	if len(o.publicKeys) == 0 {
		return nil, nil
	}
	return signed.New(signed.Options{Keys: o.publicKeys, Revoked: o.revoked, Logger: logger})
}
