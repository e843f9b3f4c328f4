package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// tokenOptions are the flags of relay token.
type tokenOptions struct {
	file, host, kind  string
	subject, clientID string
	lanes             int
	valid             time.Duration
	out               string // file; "" is standard output
	sign              string // file of a private key; "" writes to the token file
}

func tokenCommand(env *term.Env) *cobra.Command {
	var o tokenOptions
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:   "token --tokens FILE --host NAME",
		Short: "Create tokens for a host behind the relay",
		Long: `Create a token with which a host registers under a name, a token with which
clients reach it, or both, and print them. They are printed only once, because
the token file keeps only their hashes. A running relay reads the changed file
automatically. To revoke a token, remove its entry from the file: within
seconds, the relay closes the connections that used it.

With --sign the tokens are signed instead of listed: a relay accepts them if it
has the public key (relay --token-key KEY.pub). Each has an id, by which it is
revoked (relay --revoked), and expires after --valid. The key is created if it
does not exist; keep it where no relay runs. --host can then be a pattern for
clients, as in 'team-*'.

The output for a host is what serve --relay-token-file reads. With --out it goes
to a file that only you can read.`,
		Example: `  ahp-canvas relay token --tokens tokens.json --host laptop --out laptop.json
  ahp-canvas relay token --tokens tokens.json --host laptop \
    --kind client --subject ann --valid 720h
  ahp-canvas relay token --sign relay.key --host laptop --valid 2160h`,
		Args: requireOneOf("sign", term.Args()),
		RunE: term.Run(func(context.Context, []string) error {
			if cmd.Flags().Changed("valid") && o.valid <= 0 {
				return term.Usagef("--valid %s: want a time above 0; leave it out for a token that never expires", o.valid)
			}
			return makeTokens(env, o)
		}),
	}
	o.flags(cmd)
	return cmd
}

func (o *tokenOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "tokens", "", "the relay's token `file`; created if it does not exist")
	f.StringVar(&o.host, "host", "", "`name` of the host: a-z, 0-9, dot, hyphen, underscore (\"*\" with --kind client means every host)")
	f.StringVar(&o.kind, "kind", "both", "`kind` of tokens to create: host, client or both")
	f.StringVar(&o.subject, "subject", "", "`name` of the holder of the token, for the host and the log (default: the host's name; for clients, with the start of the token's hash)")
	f.StringVar(&o.clientID, "client-id", "", "the only client `id` that the holder can use (default: any)")
	f.IntVar(&o.lanes, "lanes", 0, "`limit` of connections of a client at a time (default: the relay's limit, 192)")
	f.DurationVar(&o.valid, "valid", 0, "`time` for which the token is valid, as in 720h (default: forever)")
	f.StringVar(&o.sign, "sign", "", "`file` with a private key (Ed25519, PEM) that signs the tokens; created with its public key in FILE.pub if it does not exist")
	f.StringVar(&o.out, "out", "", "`file` to write to, which only you can read (default: standard output)")
	term.Must(cmd.MarkFlagFilename("tokens"))
	term.Must(cmd.MarkFlagFilename("sign"))
	cmd.MarkFlagsMutuallyExclusive("tokens", "sign")
	term.Must(cmd.MarkFlagFilename("out"))
	term.Must(cmd.MarkFlagRequired("tokens"))
	term.Must(cmd.MarkFlagRequired("host"))
}

func makeTokens(env *term.Env, o tokenOptions) error {
	audiences := map[string][]relay.Audience{"host": {relay.ForHost}, "client": {relay.ForClient}, "both": {relay.ForHost, relay.ForClient}}[o.kind]
	switch {
	case audiences == nil:
		return term.Usagef("--kind %q: want host, client or both", o.kind)
	case !relay.ValidName(o.host) && (o.host != relay.AnyHost || o.kind != "client") && !o.pattern():
		return term.Usagef("--host %q: a name has 1 to 63 characters of a-z, 0-9, dot, hyphen and underscore", o.host)
	case o.sign != "" && o.valid <= 0:
		return term.Usagef("--sign: a signed token must expire; give --valid, as in --valid 2160h")
	}
	key, err := o.make(audiences)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := durable.Replace(o.out, append(ahp.MustMarshal(key), '\n')); err != nil {
			return term.About("--out", err)
		}
		return nil
	}
	return env.PrintJSON(key)
}

// make makes the tokens, and adds them to the token file unless they are signed.
func (o tokenOptions) make(audiences []relay.Audience) (relaykey.Key, error) {
	if o.sign != "" {
		return o.signed(audiences)
	}
	key, entries := o.mint(audiences)
	return key, addTokens(o.file, entries)
}

// mint makes a token for each audience, and the entries of the token file for them.
func (o tokenOptions) mint(audiences []relay.Audience) (relaykey.Key, []relay.TokenEntry) {
	template := relay.TokenEntry{Subject: cmp.Or(o.subject, o.host), Hosts: []string{o.host}}
	if o.valid > 0 {
		template.Expires = time.Now().Add(o.valid).UTC().Truncate(time.Second)
	}
	key := relaykey.Key{Host: o.host}
	var entries []relay.TokenEntry
	for _, audience := range audiences {
		entry := template
		entry.Audience = audience
		if audience == relay.ForClient {
			entry.ClientID, entry.Lanes = o.clientID, o.lanes
		}
		token, entry := relay.Mint(entry)
		if audience == relay.ForClient && o.subject == "" {
			entry.Subject += "-" + entry.SHA256[:8] // so that the host can distinguish holders
		}
		entries = append(entries, entry)
		if audience == relay.ForHost {
			key.HostToken = token
		} else {
			key.ClientToken = token
		}
	}
	return key, entries
}

// addTokens adds entries to a token file, which is replaced as a whole.
func addTokens(name string, entries []relay.TokenEntry) error {
	lock, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	defer lock.Close()
	if held, err := lockfile.Try(lock); held {
		return errors.New("token file: another process is changing it; try again")
	} else if err != nil {
		return fmt.Errorf("token file: lock: %w", err)
	}
	file := relay.TokenFile{Tokens: []relay.TokenEntry{}}
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("token file: %w", err)
	default:
		if file, err = relay.ParseTokens(data); err != nil {
			return err
		}
	}
	file.Tokens = append(file.Tokens, entries...)
	if _, err := relay.ParseTokens(file.Encode()); err != nil {
		return err // the value of a flag that the file cannot hold
	}
	return durable.Replace(name, file.Encode())
}
