package serve

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamcanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// aamClientOptions are the flags about sites that the host's agents use.
type aamClientOptions struct {
	on       bool
	vendor   string
	loopback bool
	key      string
	signer   string
	wallet   string
	given    func(flag string) bool
}

func (o *aamClientOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "aam", false, "let agents use web sites that publish agent actions (AAM); you approve each call on a card. The host then connects to sites that agents name")
	f.StringVar(&o.vendor, "aam-vendor", "ahp-canvas", "`name` under which agents appear at sites")
	f.BoolVar(&o.loopback, "aam-loopback", false, "also allow sites of this machine, over http")
	f.StringVar(&o.key, "aam-key", "", "`file` with the key that encrypts tokens of sites (default: in the state folder)")
	f.StringVar(&o.signer, "aam-signer", "", "`file` with a key that pays on the test network base-sepolia, as \"ahp-canvas aam keygen\" writes one")
	f.StringVar(&o.wallet, "aam-wallet", "", "`program` of your wallet that signs payments: called with \"address NETWORK\", or with \"sign\" and EIP-712 data on standard input")
	o.given = f.Changed
	for _, name := range []string{"aam-key", "aam-signer", "aam-wallet"} {
		term.Must(cmd.MarkFlagFilename(name))
	}
	cmd.MarkFlagsMutuallyExclusive("aam-signer", "aam-wallet")
}

// check rejects values that no host can start with.
func (o *aamClientOptions) check() error {
	if o.given == nil {
		return nil
	}
	for _, name := range []string{"aam-vendor", "aam-loopback", "aam-key", "aam-signer", "aam-wallet"} {
		if !o.on && o.given(name) {
			return term.Usagef("--%s needs --aam", name)
		}
	}
	if o.on && !aam.ValidVendor(o.vendor) {
		return term.Usagef("--aam-vendor %q: want a name of letters, digits, dots and hyphens, as in phone.example", o.vendor)
	}
	return nil
}

// aamSites is how agents of the host use sites.
type aamSites struct {
	client *aam.Client
	out    *outbound.Client
	notes  []string
}

// openAAMSites opens the vault and the ledger in a folder; "" keeps them in memory.
func openAAMSites(o aamClientOptions, dir string, pin *aam.PIN) (*aamSites, error) {
	s := &aamSites{}
	co := aam.Options{Vendor: o.vendor}
	var err error
	if dir != "" {
		key := o.key
		if key == "" {
			key = filepath.Join(dir, "key")
		}
		secret, err := aam.LoadKey(key)
		if err != nil {
			return nil, term.Failf(term.CodeNotStarted, "--aam-key %q: %v", key, err)
		}
		if co.Vault, err = aam.OpenVault(filepath.Join(dir, "secrets.json"), secret); err != nil {
			return nil, term.Failf(term.CodeNotStarted, "--aam: %v", err)
		}
		if co.Ledger, err = aam.OpenLedger(filepath.Join(dir, "payments.json"), nil); err != nil {
			return nil, term.Failf(term.CodeNotStarted, "--aam: %v", err)
		}
	}
	if co.Signer, err = o.payer(); err != nil {
		return nil, err
	}
	if co.Signer != nil && (pin == nil || !pin.Set()) {
		s.notes = append(s.notes, "agents cannot pay before a PIN is set: ahp-canvas aam pin")
	}
	s.out = outbound.New(outbound.Options{Loopback: o.loopback})
	co.HTTP = s.out
	s.client = aam.New(co)
	return s, nil
}

// payer returns what signs payments; nil if nothing does.
func (o *aamClientOptions) payer() (x402.Signer, error) {
	switch {
	case o.signer != "":
		text, err := os.ReadFile(o.signer)
		if err != nil {
			return nil, term.Usagef("--aam-signer: %v", err)
		}
		key, err := x402.ParseKey(string(text))
		if err != nil {
			return nil, term.Usagef("--aam-signer %q: %v", o.signer, err)
		}
		return key, nil
	case o.wallet != "":
		program, err := exec.LookPath(o.wallet)
		if err != nil {
			return nil, term.Usagef("--aam-wallet %q: %v; name a program by its absolute path, or one that is in PATH", o.wallet, err)
		}
		w, err := x402.OpenWallet(context.Background(), program)
		if err != nil {
			return nil, term.Usagef("--aam-wallet %q: %v", o.wallet, err)
		}
		return w, nil
	}
	return nil, nil
}

// canvas returns the options of the canvas aam-site.
func (s *aamSites) canvas(o aamClientOptions) *aamcanvas.SiteOptions {
	return &aamcanvas.SiteOptions{Client: s.client, Loopback: o.loopback}
}

// close closes the connections to sites.
func (s *aamSites) close() {
	if s != nil {
		_ = s.out.Close() // nil
	}
}
