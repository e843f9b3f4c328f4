package aamcmd

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func checkCommand(env *term.Env) *cobra.Command {
	var loopback bool
	cmd := &cobra.Command{
		Use:   "check SITE|FILE",
		Short: "Read a site's manifest, and print what agents can do there",
		Long: `Read the manifest of a site, or one in a file, and print its actions, prices and
warnings. A manifest that breaks a rule is an error, with its place.`,
		Example: `  ahp-canvas aam check caferosso.com
  ahp-canvas aam check ./agent-actions.json`,
		Args: term.Args("SITE|FILE"),
		RunE: term.Run(func(ctx context.Context, args []string) error { return check(ctx, env, args[0], loopback) }),
	}
	cmd.Flags().BoolVar(&loopback, "loopback", false, "also read sites of this machine, over http")
	env.JSONFlag(cmd)
	return cmd
}

// checked is what check prints.
type checked struct {
	Site     string          `json:"site"`
	Name     string          `json:"name"`
	Domain   string          `json:"domain"`
	Proofs   []string        `json:"proofs"`
	Actions  []checkedAction `json:"actions"`
	Warnings []aam.Warning   `json:"warnings"`
}

type checkedAction struct {
	ID     string    `json:"id"`
	Price  string    `json:"price"`
	Auth   bool      `json:"auth"`
	Schema ahp.Value `json:"inputSchema"`
}

func check(ctx context.Context, env *term.Env, arg string, loopback bool) error {
	m, warnings, at, err := readManifest(ctx, arg, loopback)
	if err != nil {
		return fail(err)
	}
	out := checked{Site: at, Name: ahp.Line(m.Site.Name, 80), Domain: ahp.Line(m.Site.Domain, 253), Proofs: append([]string{}, m.Proofs()...),
		Actions: []checkedAction{}, Warnings: append([]aam.Warning{}, warnings...)}
	for _, a := range m.Actions {
		out.Actions = append(out.Actions, checkedAction{a.ID, a.Pricing.String(), m.NeedsAuth(a.ID), a.InputSchema()})
	}
	if env.JSON {
		return env.PrintJSON(out)
	}
	return printChecked(env, out)
}

// readManifest reads a file if there is one of that name, otherwise a site's manifest. A
// file is held against the address that it claims.
func readManifest(ctx context.Context, arg string, loopback bool) (*aam.Manifest, []aam.Warning, string, error) {
	if raw, err := os.ReadFile(arg); err == nil {
		m, warnings, err := aam.ParseManifest(raw)
		if err != nil {
			return nil, nil, "", err
		}
		at := &url.URL{Scheme: "https", Host: m.Site.Domain, Path: aam.WellKnown}
		more, err := m.Locate(at)
		return m, append(warnings, more...), arg, err
	}
	site, err := aam.ParseSite(arg, loopback)
	if err != nil {
		return nil, nil, "", err
	}
	web := outbound.New(outbound.Options{Loopback: loopback})
	defer web.Close()
	m, warnings, err := aam.New(aam.Options{HTTP: web, Vendor: "ahp-canvas"}).Discover(ctx, site)
	return m, warnings, site.String(), err
}

func printChecked(env *term.Env, out checked) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s), read from %s\n", out.Name, out.Domain, out.Site)
	for _, a := range out.Actions {
		auth := ""
		if a.Auth {
			auth = ", needs a sign-in"
		}
		fmt.Fprintf(&b, "  %s  %s%s\n", a.ID, a.Price, auth)
	}
	for _, w := range out.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	_, err := fmt.Fprint(env.Out, b.String())
	return err
}

// fail turns an error of package aam into one of a command.
func fail(err error) error {
	if e, ok := err.(*aam.Error); ok {
		text := e.Message
		if e.Path != "" {
			text = e.Path + ": " + text
		}
		return term.Failf(e.Code, "%s", text)
	}
	return err
}
