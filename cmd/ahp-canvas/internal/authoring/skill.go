package authoring

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/skill"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// AAPCommand returns aap, with its command skill.
func AAPCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "aap",
		Short: "Help agents to write AAP pages",
		Long: `AAP, Actions for AI Agents: an agent writes HTML files, people act in them, and
each action is stored for the agent. "ahp-canvas serve --aap" shows the pages.`,
		Args: term.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "skill",
		Short: "Print the skill that teaches an agent to write AAP pages",
		Long: `Print the skill canvas-actions, as one Markdown file with templates: when to
make a page, how to make it, and how to react to what people do in it.`,
		Example: `  mkdir ~/.claude/skills/canvas-actions && cd ~/.claude/skills/canvas-actions
  ahp-canvas aap skill > SKILL.md`,
		Args: term.Args(),
		RunE: term.Run(func(context.Context, []string) error {
			_, err := fmt.Fprint(env.Out, skill.Text())
			return err
		}),
	})
	return cmd
}
