package people

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// target is a running host, or, if none runs, the state folder that the next one uses.
type target struct {
	reach.Target
	state string // folder; "" is the user's
}

func (t *target) flags(cmd *cobra.Command, env *term.Env) {
	targetFlags(cmd, env, &t.Target)
	cmd.Flags().StringVar(&t.state, "state", "", "`folder` of a host that does not run (default: the user's state folder)")
	term.Must(cmd.MarkFlagDirname("state"))
}

// do calls the running host, or, if there is none, changes the tokens in its state folder,
// which no host can use meanwhile. A folder that a host is using is that host's to change.
func (t *target) do(ctx context.Context, env *term.Env, method, path string, body, into any, offline func(*token.Store) error) error {
	err := error(nil)
	if t.state == "" {
		err = t.Access(ctx, env, method, path, body, into)
		if failed, ok := errors.AsType[*canvas.Error](err); !ok || failed.Code != term.CodeNoHost || t.Host != "" {
			return err
		}
	}
	dir := t.state
	if dir == "" {
		if dir, err = userdir.State(env.Getenv); err != nil {
			return err
		}
	}
	if _, absent := os.Stat(statedir.File(dir)); absent != nil {
		return term.Failf(term.CodeNoHost, "no host is running, and none has used the state folder %s", dir)
	}
	state, err := statedir.Open(dir)
	if err != nil {
		return err
	}
	defer state.Release()
	tokens, err := state.Tokens()
	if err != nil {
		return err
	}
	env.Note("no host is running: this is the state folder " + dir)
	return offline(tokens)
}

// create makes a token in a state folder.
func (in newToken) create(tokens *token.Store) (created, error) {
	secret, e, err := tokens.Create(token.Request{Name: in.Name, Role: in.Role, ClientID: in.ClientID, Lifetime: time.Duration(in.Seconds * float64(time.Second))})
	return created{Token: secret, Entry: e}, err
}
