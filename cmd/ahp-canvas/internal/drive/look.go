package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// lookArgs are the arguments of look_at_canvas.
type lookArgs struct {
	Session    string  `json:"session,omitzero"`
	InstanceID string  `json:"instanceId"`
	Width      int     `json:"width,omitzero"`
	Height     int     `json:"height,omitzero"`
	Theme      string  `json:"theme,omitzero"`
	Full       bool    `json:"full,omitzero"`
	Wait       float64 `json:"wait,omitzero"`
	Picture    bool    `json:"picture"`
}

func lookCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	var args lookArgs
	var out string
	cmd := &cobra.Command{
		Use:   "look INSTANCE",
		Short: "See an open canvas as people see it",
		Long: `See an open canvas as people see it: where it is open, an outline of its
document, and what went wrong in its page since the last look. With --out, a
picture too. The activity of an open page lists the look.

With --json the output is the result of look_at_canvas, without the picture.`,
		Example: `  ahp-canvas look board
  ahp-canvas look board --out board.png --full --theme dark`,
		Args:              term.Args("INSTANCE"),
		ValidArgsFunction: completer{env, &to}.args(instanceIDs),
		RunE: term.Run(func(ctx context.Context, names []string) error {
			args.Session, args.InstanceID, args.Picture = to.Session, names[0], out != ""
			return lookAt(ctx, env, to, args, out)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "`file` for the picture, a PNG")
	f.IntVar(&args.Width, "width", 0, "width of the picture in `pixels` (default: that of the newest page)")
	f.IntVar(&args.Height, "height", 0, "height of the picture in `pixels`")
	f.StringVar(&args.Theme, "theme", "", "`theme` of the picture: light or dark")
	f.BoolVar(&args.Full, "full", false, "show the whole document, and not only what fits")
	f.Float64Var(&args.Wait, "wait", 0, "`seconds` to wait after the page was loaded, at most 5")
	flags(cmd, env, &to)
	return cmd
}

func lookAt(ctx context.Context, env *term.Env, to reach.Target, args lookArgs, out string) error {
	value, png, err := callWithPicture(ctx, env, to, args)
	if err != nil {
		return err
	}
	var l canvas.Look
	if err := reach.Decode(mcp.ToolLook, value, &l); err != nil {
		return err
	}
	if out != "" && png == nil {
		env.Note("no picture was written: " + term.Printable(l.NoPicture))
	} else if out != "" {
		if err := os.WriteFile(out, png, 0o600); err != nil {
			return term.About("--out", err)
		}
	}
	if env.JSON {
		return env.PrintJSON(value)
	}
	_, err = fmt.Fprint(env.Out, lookText(l))
	return err
}

func callWithPicture(ctx context.Context, env *term.Env, to reach.Target, args lookArgs) (ahp.Value, []byte, error) {
	defer env.Progress("Looking")()
	c, err := ofInstance(env, to, args.InstanceID, "").dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	value, png, err := c.CallWithPicture(ctx, mcp.ToolLook, ahp.MustMarshal(args))
	if e, ok := errors.AsType[*canvas.Error](err); ok && slices.Contains([]string{"/width", "/height", "/theme", "/wait"}, e.Path) {
		err = term.About("--"+e.Path[1:], err)
	}
	return value, png, err
}

// lookText is a look for people.
func lookText(l canvas.Look) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s)", l.InstanceID, l.Availability)
	for _, more := range []string{l.Title, l.Status, l.Message} {
		if more != "" {
			text.WriteString("  " + term.Printable(more))
		}
	}
	fmt.Fprintf(&text, "\nopen in %d pages\n", len(l.Views))
	for _, p := range l.Problems {
		text.WriteString(term.Printable(fmt.Sprintf("%s: %s (%s:%d)", p.Kind, p.Text, p.File, p.Line)) + "\n")
	}
	for line := range strings.Lines(l.Outline) {
		text.WriteString(term.Printable(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return text.String()
}
