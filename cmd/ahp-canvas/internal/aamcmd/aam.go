package aamcmd

import (
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Command returns aam with its commands.
func Command(env *term.Env) *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "aam",
		Short: "Let agents use web sites, and agents of others this host",
		Long: `AAM, the Agent Action Manifest: a site says in a file what agents can do there,
and a person lets an agent do it, with limits.

"ahp-canvas serve --aam" lets your agents use sites: you approve each call on a
card. "ahp-canvas serve --aam-site site.json" makes this host such a site:
agents of other people can use the canvas actions that the file names.`,
		Args: term.UnknownSubcommand,
	}, checkCommand(env), initCommand(env), keygenCommand(env), mcpCommand(env), pinCommand(env), settleCommand(env))
}
