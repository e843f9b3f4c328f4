package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
)

// relayKey is what relay token prints, and what serve --relay-token-file reads:
// all that a host needs to be reached through a relay.
type relayKey struct {
	Host        string `json:"host"`
	HostToken   string `json:"hostToken,omitzero"`
	ClientToken string `json:"clientToken,omitzero"`
}

// minting is the flags of relay token.
type minting struct {
	file, host, kind  string
	subject, clientID string
	lanes             int
	valid             time.Duration
	out               string // file; "" is standard output
}

func (a *app) relayTokenCommand() *cobra.Command {
	var m minting
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:   "token --tokens FILE --host NAME",
		Short: "Make tokens for a host behind the relay",
		Long: `Make a token that lets a host register under a name, one that lets clients reach
it, or both, and print them once: the file keeps their hashes only. The relay
picks the change up by itself. To withdraw a token, remove its row from the
file: what it opened ends within seconds.

What is printed for a host is what serve --relay-token-file reads. With --out it
goes into a file that nobody else can read.`,
		Example: `  ahp-canvas relay token --tokens tokens.json --host laptop --out laptop.json
  ahp-canvas relay token --tokens tokens.json --host laptop \
    --kind client --subject ann --valid 720h`,
		Args: takes(),
		RunE: does(func(_ context.Context, _ []string) error {
			if cmd.Flags().Changed("valid") && m.valid <= 0 {
				return &usage{text: fmt.Sprintf("--valid %s: give a time above 0, or none for a token that is good for ever", m.valid)}
			}
			return a.mint(m)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&m.file, "tokens", "", "the relay's token file; it is made where there is none")
	f.StringVar(&m.host, "host", "", "name of the host: a-z, 0-9, dot, hyphen, underscore (\"*\" with --kind client: every host)")
	f.StringVar(&m.kind, "kind", "both", "which token: host, client or both")
	f.StringVar(&m.subject, "subject", "", "who holds it, as the host and the log are told (default: the host's name)")
	f.StringVar(&m.clientID, "client-id", "", "the only client id that a client may claim (default: any)")
	f.IntVar(&m.lanes, "lanes", 0, "how many connections a client may have at once (default: the relay's limit, 8)")
	f.DurationVar(&m.valid, "valid", 0, "how long the token is good, as in 720h (default: for ever)")
	f.StringVar(&m.out, "out", "", "file to write to, readable by you alone (default: standard output)")
	must(cmd.MarkFlagFilename("tokens"))
	must(cmd.MarkFlagFilename("out"))
	must(cmd.MarkFlagRequired("tokens"))
	must(cmd.MarkFlagRequired("host"))
	return cmd
}

func (a *app) mint(m minting) error {
	wants := map[string][]relay.Audience{"host": {relay.ForHost}, "client": {relay.ForClient}, "both": {relay.ForHost, relay.ForClient}}[m.kind]
	switch {
	case wants == nil:
		return &usage{text: fmt.Sprintf("--kind %s: it is host, client or both", m.kind)}
	case !relay.ValidName(m.host) && (m.host != relay.AnyHost || m.kind != "client"):
		return &usage{text: fmt.Sprintf("--host %s: a name is 1 to 63 of a-z, 0-9, dot, hyphen and underscore", m.host)}
	}
	key, rows := m.tokens(wants)
	if err := addTokens(m.file, rows); err != nil {
		return err
	}
	if m.out != "" {
		return writePrivate(m.out, append(ahp.MustMarshal(key), '\n'))
	}
	return printLine(a.out, key)
}

// tokens makes a token for each audience, and the rows that know them.
func (m minting) tokens(audiences []relay.Audience) (relayKey, []relay.TokenEntry) {
	row := relay.TokenEntry{Subject: cmp.Or(m.subject, m.host), Hosts: []string{m.host}}
	if m.valid > 0 {
		row.Expires = time.Now().Add(m.valid).UTC().Truncate(time.Second)
	}
	key := relayKey{Host: m.host}
	var rows []relay.TokenEntry
	for _, audience := range audiences {
		row := row
		row.Audience = audience
		if audience == relay.ForClient {
			row.ClientID, row.Lanes = m.clientID, m.lanes
		}
		token, complete := relay.Mint(row)
		rows = append(rows, complete)
		if audience == relay.ForHost {
			key.HostToken = token
		} else {
			key.ClientToken = token
		}
	}
	return key, rows
}

// addTokens adds rows to a token file, which is replaced whole.
func addTokens(name string, rows []relay.TokenEntry) error {
	lock, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	defer lock.Close()
	if held, err := lockfile.Try(lock); held {
		return errors.New("token file: somebody else is changing it: try again")
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
	file.Tokens = append(file.Tokens, rows...)
	if _, err := relay.ParseTokens(file.Encode()); err != nil {
		return err // a flag's value that the file does not take
	}
	return writePrivate(name, file.Encode())
}

// readRelayKey reads what relay token printed for a host.
func readRelayKey(name string) (relayKey, error) {
	var k relayKey
	data, err := os.ReadFile(name)
	if err != nil {
		return k, fmt.Errorf("relay token file: %w", err)
	}
	if err := ahp.Unmarshal(data, &k); err != nil {
		return k, fmt.Errorf("relay token file: %w (it is what \"ahp-canvas relay token\" printed)", err)
	}
	if k.HostToken == "" {
		return k, errors.New("relay token file: it has no host token (make one with --kind host or both)")
	}
	return k, nil
}
