package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) linkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print the running host's link again",
		Long: `Print the link that opens a running host's page. It holds a token: who has it
sees and works with the canvases.`,
		Args: takes(),
		RunE: does(func(_ context.Context, _ []string) error {
			to, err := a.resolve()
			if err != nil {
				return err
			}
			if to.link == "" {
				return failf(codeNoHost, "%s is no running host of this user: only it knows its link", a.to.host)
			}
			if a.json {
				return printLine(a.out, linkLine{to.link})
			}
			_, err = fmt.Fprintln(a.out, to.link)
			return err
		}),
	}
	a.jsonFlag(cmd)
	cmd.Flags().StringVar(&a.to.host, "host", "", "URL of the host (default: the running host that started last)")
	return cmd
}

// linkLine is link --json.
type linkLine struct {
	Link string `json:"link"`
}
