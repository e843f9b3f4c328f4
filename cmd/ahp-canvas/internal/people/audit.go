package people

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// pathEscape makes an argument one segment of a path.
func pathEscape(s string) string { return url.PathEscape(s) }

// AuditCommand returns audit.
func AuditCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Print who did what at a running host",
		Long: `Print who did what at a running host: the newest 4,096 entries since it started,
the oldest first. TOKEN is the name of the token. The entries have no payloads.
The host also logs each one, at the level info, with the message "audit".`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return audit(ctx, env, to) }),
	}
	targetFlags(cmd, env, &to)
	return cmd
}

func audit(ctx context.Context, env *term.Env, to reach.Target) error {
	var all struct {
		Entries []host.AuditEntry `json:"entries"`
	}
	if err := to.Access(ctx, env, http.MethodGet, "/access/audit", nil, &all); err != nil {
		return err
	}
	t := term.Table{Head: []string{"TIME", "TOKEN", "CLIENT", "WHAT", "TARGET", "OUTCOME", "TIMES"}}
	for _, e := range all.Entries {
		if env.JSON {
			if err := env.PrintJSON(e); err != nil {
				return err
			}
			continue
		}
		t.Add(e.Time.Local().Format("2006-01-02 15:04:05"), e.Token, e.Client, e.Method, e.Target, e.Outcome, strconv.Itoa(e.Count))
	}
	if !env.JSON {
		t.Print(env.Out)
	}
	return nil
}
