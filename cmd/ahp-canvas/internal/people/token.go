package people

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// TokenCommand returns token.
func TokenCommand(env *term.Env) *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "token",
		Short: "List, create and revoke the tokens of a host",
		Long: `List, create and revoke the tokens of a running host or, if none runs, of its
state folder.

The role of a token says what its holder may do:
  read    see canvases
  view    also use them, and ask for a close: what a person needs
  client  also provide canvases, and create sessions: what an editor needs
  agent   everything, and MCP
`,
		Args: term.UnknownSubcommand,
	}, listCommand(env, "list", "List the tokens that were created", func(e token.Entry) bool { return e.Kind == token.Minted }),
		createCommand(env), revokeCommand(env, "TOKEN", "Revoke a token, and close what it opened"), rotateCommand(env))
}

// PeopleCommand returns people.
func PeopleCommand(env *term.Env) *cobra.Command {
	cmd := listCommand(env, "people", "List the browsers that opened an invitation", func(e token.Entry) bool { return e.Kind != token.Minted })
	cmd.Long = `List the browsers that opened an invitation, and the invitations. Each browser
has a token that can be revoked. People with the link that serve prints are not
listed: "ahp-canvas token rotate view" ends that link.`
	cmd.AddCommand(revokeCommand(env, "BROWSER", "Revoke the token of a browser, and close its page's connection"))
	return cmd
}

// targetFlags adds --json, --host and --token-file.
func targetFlags(cmd *cobra.Command, env *term.Env, to *reach.Target) {
	env.JSONFlag(cmd)
	to.Flags(cmd)
}

func listCommand(env *term.Env, name, short string, which func(token.Entry) bool) *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use: name, Short: short, Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error { return list(ctx, env, to, which) }),
	}
	to.flags(cmd, env)
	return cmd
}

func list(ctx context.Context, env *term.Env, to target, which func(token.Entry) bool) error {
	var all struct {
		Tokens []token.Entry `json:"tokens"`
	}
	err := to.do(ctx, env, http.MethodGet, "/access/tokens", nil, &all, func(tokens *token.Store) error {
		all.Tokens = tokens.List()
		return nil
	})
	if err != nil {
		return err
	}
	t := term.Table{Head: []string{"ID", "KIND", "NAME", "ROLE", "CLIENT", "EXPIRES"}}
	for _, e := range all.Tokens {
		switch {
		case !which(e):
		case env.JSON:
			if err := env.PrintJSON(e); err != nil {
				return err
			}
		default:
			t.Add(e.ID, kindText(e), e.Name, e.Role, e.ClientID, timeText(e.Expires))
		}
	}
	if !env.JSON {
		t.Print(env.Out)
	}
	return nil
}

func kindText(e token.Entry) string {
	if !e.Used.IsZero() {
		return "used " + timeText(e.Used)
	}
	return string(e.Kind)
}

// timeText returns a time as people read it, "never" for none.
func timeText(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Local().Format("2006-01-02 15:04")
}

// newToken is the body of a request for a token.
type newToken struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	ClientID string  `json:"clientId,omitzero"`
	Seconds  float64 `json:"seconds,omitzero"`
	Invite   bool    `json:"invite,omitzero"`
	Session  string  `json:"session,omitzero"`
}

// created is the answer to it.
type created struct {
	Token string `json:"token,omitzero"`
	Link  string `json:"link,omitzero"`
	token.Entry
}

func createCommand(env *term.Env) *cobra.Command {
	var to target
	var in newToken
	var expires string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a token and print it",
		Long: `Create a token and print it. The host keeps only its hash, so it cannot be
printed again.

A token with --client is the only one that may use that client id.`,
		Example: `  ahp-canvas token create --name Editor --role client --client editor \
    --expires 30d`,
		Args: term.Args(),
		RunE: term.Run(func(ctx context.Context, _ []string) error {
			life, err := lifetime(expires)
			if err != nil {
				return err
			}
			in.Seconds = life.Seconds()
			var made created
			err = to.do(ctx, env, http.MethodPost, "/access/tokens", in, &made, func(tokens *token.Store) (err error) {
				made, err = in.create(tokens)
				return err
			})
			if err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(made)
			}
			env.Note(fmt.Sprintf("token %s (%s, %s, expires: %s); it is not shown again", made.ID, made.Name, made.Role, timeText(made.Expires)))
			_, err = fmt.Fprintln(env.Out, made.Token)
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&in.Name, "name", "", "`name` of the token in lists and audits")
	f.StringVar(&in.Role, "role", "", "`role`: read, view, client or agent")
	f.StringVar(&in.ClientID, "client", "", "only client `id` that may use the token (default: any)")
	f.StringVar(&expires, "expires", "", "`time` until the token ends, as in 12h or 30d (default: never)")
	term.Must(cmd.MarkFlagRequired("name"))
	term.Must(cmd.MarkFlagRequired("role"))
	term.Must(cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]cobra.Completion{"read", "view", "client", "agent"}, cobra.ShellCompDirectiveNoFileComp)))
	to.flags(cmd, env)
	return cmd
}

// lifetime reads a duration that may be in days.
func lifetime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 3650 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, term.Usagef("--expires %q: want a time such as 12h or 30d", text)
}

func revokeCommand(env *term.Env, what, short string) *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use: "revoke " + what, Short: short, Args: term.Args(what),
		Long: short + ".\n\n" + what + ` is an id of the list. What its clients provide leaves their sessions.`,
		RunE: term.Run(func(ctx context.Context, args []string) error {
			var e token.Entry
			err := to.do(ctx, env, http.MethodDelete, "/access/tokens/"+pathEscape(args[0]), nil, &e, func(tokens *token.Store) (err error) {
				e, err = tokens.Revoke(args[0])
				return err
			})
			if err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(e)
			}
			_, err = fmt.Fprintf(env.Out, "Revoked %s (%s).\n", term.Printable(e.ID), term.Printable(e.Name))
			return err
		}),
	}
	to.flags(cmd, env)
	return cmd
}

func rotateCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	cmd := &cobra.Command{
		Use:   "rotate view|agent",
		Short: "Replace the token of the link, or of the agent",
		Long: `Replace the host's view token, which is in the link that serve prints, or its
agent token. What the old one opened is closed. The host need not restart; its
commands on this machine use the new token at once.`,
		Args:      term.Args("view|agent"),
		ValidArgs: []string{"view", "agent"},
		RunE: term.Run(func(ctx context.Context, args []string) error {
			var made created
			if err := to.Access(ctx, env, http.MethodPost, "/access/rotate", map[string]string{"role": args[0]}, &made); err != nil {
				return err
			}
			if env.JSON {
				return env.PrintJSON(made)
			}
			text := made.Token
			if args[0] == "view" {
				text = made.Link
			}
			_, err := fmt.Fprintln(env.Out, text)
			return err
		}),
	}
	targetFlags(cmd, env, &to)
	return cmd
}
