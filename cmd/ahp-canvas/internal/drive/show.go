package drive

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

const (
	pageCanvas   = "page"
	showInterval = 300 * time.Millisecond
	showPart     = 150 << 10 // bytes of files in one call: 200 KiB as base64
	closeTimeout = 5 * time.Second
)

func showCommand(env *term.Env) *cobra.Command {
	var to reach.Target
	var instance, title string
	cmd := &cobra.Command{
		Use:   "show FILE|DIR",
		Short: "Show a file or a folder as a page, and follow its changes",
		Long: `Show a file or a folder as a page, until Ctrl-C. FILE is an HTML file, an image
or a text; DIR has an index.html. A change on the disk is shown at once, as a
revision of the page. Names that begin with a dot are left out.

With --json the output is the result of open.`,
		Example: `  ahp-canvas show report.html
  ahp-canvas show ./dist --instance app`,
		Args: term.Args("FILE|DIR"),
		RunE: term.Run(func(ctx context.Context, args []string) error {
			s := &shower{env: env, args: openArgs{Session: to.Session, CanvasID: pageCanvas, InstanceID: instance}, title: title, at: args[0]}
			return s.run(ctx, to)
		}),
	}
	cmd.Flags().StringVar(&instance, "instance", "", "`name` for the open canvas (default: a new one)")
	cmd.Flags().StringVar(&title, "title", "", "`title` of the page (default: the document's)")
	flags(cmd, env, &to)
	return cmd
}

// shower shows files of the disk in one canvas.
type shower struct {
	env    *term.Env
	client *mcp.Client
	args   openArgs
	title  string
	at     string           // the file or folder
	shown  map[string]stamp // the files as the canvas has them
}

// run opens the canvas, follows the files until ctx is canceled, and closes it.
func (s *shower) run(ctx context.Context, to reach.Target) error {
	source, err := openSource(s.at)
	if err != nil {
		return err
	}
	defer source.close()
	if s.client, err = to.Dial(ctx, s.env); err != nil {
		return err
	}
	defer s.client.Close()
	if err := s.open(ctx, source); err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_, _ = s.client.Call(closing, mcp.ToolClose, ahp.MustMarshal(closeArgs{s.args.Session, s.args.InstanceID})) // the host may be gone
	}()
	return s.follow(ctx, source)
}

// open opens the canvas with the current files.
func (s *shower) open(ctx context.Context, from *source) error {
	stamps, err := from.scan()
	if err != nil {
		return err
	}
	files, err := from.read(slices.Sorted(maps.Keys(stamps)))
	if err != nil {
		return err
	}
	if _, ok := files[indexFile]; !ok {
		return term.Usagef("%q has no %s, which is the page that is shown", s.at, indexFile)
	}
	input := map[string]any{"html": "<p>Loading…"} // replaces what an earlier show has left
	if s.title != "" {
		input["title"] = s.title
	}
	parts := partsOf(files, nil)
	if len(parts) == 1 {
		delete(input, "html")
		input["files"] = parts[0].Files
	}
	s.args.Input = ahp.MustMarshal(input)
	value, err := s.client.Call(ctx, mcp.ToolOpen, ahp.MustMarshal(s.args))
	if err != nil {
		return err
	}
	var r openResult
	if err := reach.Decode(mcp.ToolOpen, value, &r); err != nil {
		return err
	}
	s.args.InstanceID, s.shown = r.InstanceID, stamps
	if len(parts) > 1 {
		if err := s.send(ctx, parts); err != nil {
			return err
		}
	}
	return s.print(value, r)
}

func (s *shower) print(value ahp.Value, r openResult) error {
	if s.env.JSON {
		return s.env.PrintJSON(value)
	}
	fmt.Fprintf(s.env.Out, "Showing %s as %s. Ctrl-C closes it.\n", term.Printable(s.at), term.Printable(r.InstanceID))
	if r.Link != "" {
		fmt.Fprintf(s.env.Out, "\n%s\n", term.Printable(r.Link))
	}
	return nil
}

// follow shows changes until ctx is canceled, or the canvas was closed. It waits until two
// looks find the same files, so that a build is one revision.
func (s *shower) follow(ctx context.Context, from *source) error {
	tick := time.NewTicker(showInterval)
	defer tick.Stop()
	last := s.shown
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now, err := from.scan()
		if err != nil || !maps.Equal(now, last) {
			last = now // the file may be being replaced
			continue
		}
		if maps.Equal(now, s.shown) {
			continue
		}
		err = s.update(ctx, from, now)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}):
			s.env.Note("the page was closed.")
			return nil
		case err != nil:
			s.env.Note(fmt.Sprintf("this change is not shown: %v", err))
		}
		s.shown = now // also after an error: the next change tries again
	}
}

// update sends the files that differ from what the canvas has.
func (s *shower) update(ctx context.Context, from *source, now map[string]stamp) error {
	var changed, gone []string
	for path, st := range now {
		if s.shown[path] != st {
			changed = append(changed, path)
		}
	}
	for path := range s.shown {
		if _, ok := now[path]; !ok {
			gone = append(gone, path)
		}
	}
	files, err := from.read(changed)
	if err != nil {
		return err
	}
	return s.send(ctx, partsOf(files, gone))
}

// part is the input of one write_files.
type part struct {
	Files  map[string]filePart `json:"files,omitzero"`
	Delete []string            `json:"delete,omitzero"`
	More   bool                `json:"more,omitzero"`
}

type filePart struct {
	Base64 string `json:"base64"`
	Append bool   `json:"append,omitzero"`
}

// partsOf splits files into calls. The host shows them together after the last one.
func partsOf(files map[string][]byte, gone []string) []part {
	parts := []part{{Files: map[string]filePart{}, Delete: gone}}
	size := 0
	for _, path := range slices.Sorted(maps.Keys(files)) {
		rest := files[path]
		for first := true; first || len(rest) > 0; first = false {
			if size >= showPart || !first {
				parts = append(parts, part{Files: map[string]filePart{}})
				size = 0
			}
			n := min(len(rest), showPart-size)
			parts[len(parts)-1].Files[path] = filePart{base64.StdEncoding.EncodeToString(rest[:n]), !first}
			rest = rest[n:]
			size += n + 256 // its name
		}
	}
	for n := range parts[:len(parts)-1] {
		parts[n].More = true
	}
	return parts
}

func (s *shower) send(ctx context.Context, parts []part) error {
	for _, p := range parts {
		args := invokeArgs{s.args.Session, s.args.InstanceID, "write_files", ahp.MustMarshal(p)}
		if _, err := s.client.Call(ctx, mcp.ToolInvoke, ahp.MustMarshal(args)); err != nil {
			return err
		}
	}
	return nil
}
