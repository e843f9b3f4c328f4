package drive

import (
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Commands returns the commands of this package, except for mcp.
func Commands(env *term.Env) []*cobra.Command {
	return []*cobra.Command{
		lsCommand(env), describeCommand(env), openCommand(env), showCommand(env), invokeCommand(env), closeCommand(env), eventsCommand(env), lookCommand(env),
		hostsCommand(env), linkCommand(env), extensionCommand(env),
	}
}

// flags adds the flags of a command that calls tools: --json, --host, --token-file and
// --session.
func flags(cmd *cobra.Command, env *term.Env, to *reach.Target) {
	env.JSONFlag(cmd)
	to.Flags(cmd)
	to.SessionFlag(cmd)
}
