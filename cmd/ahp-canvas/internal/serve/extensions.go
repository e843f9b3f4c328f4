package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/extension"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// apps are the web apps of --canvas-url, the extensions of --extension and the servers of
// --mcp-server.
type apps struct {
	web        []*webApp
	runner     *extension.Runner // nil without extensions
	extensions []*extension.Extension
	named      []*extension.Extension // those that --extension names one by one
	late       []*extension.Extension // those that were still starting after startPatience
	mcp        *mcpapp.Runner         // nil without MCP servers
	servers    []*mcpapp.Running
	notes      []string // about the files of --mcp-config
	logs       string   // folder; "" without extensions and servers
}

// startApps registers web apps and starts extensions. On error it also returns what it has
// started; the caller closes it. The logs of extensions are beside the endpoint file,
// where "extension logs" finds them.
func (s *starting) startApps(registry *host.Canvases, tracer *trace.Tracer) (a apps, err error) {
	direct := s.content == reach.ContentDirect
	sockets := loopback.NewSockets(s.limits.Apps())
	for _, arg := range s.urls {
		if err := a.addWeb(registry, arg, loopback.Options{Direct: direct, Dial: sockets.Dial, Trace: tracer, Logger: s.logger}); err != nil {
			return a, err
		}
	}
	if len(s.extensions) == 0 && !s.mcp.any() {
		return a, nil
	}
	if err := userdir.Ensure(s.runtimeDir); err != nil {
		return a, fmt.Errorf("extension logs: %w", err)
	}
	a.logs = userdir.Logs(s.runtimeDir, os.Getpid())
	if s.mcp.any() {
		if err := s.startServers(&a, registry); err != nil {
			return a, err
		}
	}
	if len(s.extensions) == 0 {
		return a, nil
	}
	opts := extension.Options{
		Service: registry, Session: host.DefaultSession, LogDir: a.logs, Version: s.version, Direct: direct, Dial: sockets.Dial, Trace: tracer, Logger: s.logger,
	}
	if s.dir != statedir.Memory {
		opts.WorkspaceDir = filepath.Join(s.dir, "extensions")
	}
	if a.runner, err = extension.New(opts); err != nil {
		return a, err
	}
	for _, dir := range s.extensions {
		if err := a.addExtensions(dir); err != nil {
			return a, term.About("--extension "+dir, err)
		}
	}
	return a, nil
}

func (a *apps) addExtensions(dir string) error {
	found, err := extension.Find(dir)
	if err != nil {
		return err
	}
	for _, f := range found {
		x, err := a.runner.Add(f)
		if err != nil {
			return err
		}
		a.extensions = append(a.extensions, x)
		if len(found) == 1 {
			a.named = append(a.named, x)
		}
	}
	return nil
}

// startPatience is how long the ready line waits for extensions.
const startPatience = 5 * time.Second

// wait waits until all extensions have declared their canvases or have failed, for
// startPatience at most, and returns a note for each that has not started.
func (a *apps) wait(ctx context.Context) (notes []string) {
	patience, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	notes = append(a.notes, a.waitServers(ctx, patience)...)
	for _, x := range a.extensions {
		switch err := x.WaitStarted(patience); {
		case err == nil || ctx.Err() != nil:
		case patience.Err() != nil && errors.Is(err, patience.Err()):
			a.late = append(a.late, x)
			notes = append(notes, fmt.Sprintf("extension %q is still starting; its canvases appear when it has", x.ID()))
		default:
			notes = append(notes, message(err))
		}
	}
	return notes
}

// message is an error's text without its code.
func message(err error) string {
	if e, ok := err.(*canvas.Error); ok {
		return e.Message
	}
	return err.Error()
}

// defaults are the canvases to open if the user names none: the web apps, and the first
// canvas of each extension that --extension names one by one.
func (a *apps) defaults() []canvas.OpenArgs {
	var list []canvas.OpenArgs
	for _, p := range a.web {
		list = append(list, openArgs(p.ID(), p.ID()))
	}
	for _, x := range a.named {
		list = append(list, first(x)...)
	}
	return list
}

// first is the first canvas of an extension; nil if it has none yet.
func first(x *extension.Extension) []canvas.OpenArgs {
	declared := x.Declarations()
	if len(declared) == 0 {
		return nil
	}
	return []canvas.OpenArgs{openArgs(x.ID(), declared[0].CanvasID)}
}

// awaitLate waits for the late extensions, notes which of them fail, and opens the canvases
// that defaults had nothing to open for. It returns when all have started or failed, or
// when ctx is canceled.
func (h *hosted) awaitLate(ctx context.Context, env *term.Env, defaults bool) {
	for _, x := range h.apps.late {
		err := x.WaitStarted(ctx)
		if err == nil && defaults && slices.Contains(h.apps.named, x) {
			for _, args := range first(x) {
				_, err = h.host.Canvases().Open(ctx, args)
			}
		}
		if err != nil && ctx.Err() == nil {
			env.Note(message(err))
		}
	}
}

// openArgs opens a canvas under its own name (canvas/PROTOCOL.md section 9).
func openArgs(extensionID, canvasID string) canvas.OpenArgs {
	return canvas.OpenArgs{Session: host.DefaultSession, ExtensionID: extensionID, CanvasID: canvasID, InstanceID: canvasID}
}

func (a *apps) close() {
	for _, p := range a.web {
		p.Close()
	}
	if a.runner != nil {
		a.runner.Close()
	}
	if a.mcp != nil {
		a.mcp.Close()
	}
	if a.logs != "" {
		_ = os.RemoveAll(a.logs)
	}
}
