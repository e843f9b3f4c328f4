package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/extension"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// The ways in which pages of extensions and local web apps reach people.
const (
	contentChannel = "channel" // through the host, wherever the person is
	contentDirect  = "direct"  // from the app itself, on this machine only
)

// carrying is which extensions and local web apps a host shows.
type carrying struct {
	extensions []string // folders
	urls       []string // name=url
	content    string
}

// flags adds their flags.
func (o *carrying) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.extensions, "extension", nil, "extension to run: a folder with extension.mjs or a package.json with a main module, or a folder of such; it runs as you, with all that you may do (repeatable)")
	f.StringArrayVar(&o.urls, "canvas-url", nil, "web app of this machine to offer as a canvas, as in notes=http://127.0.0.1:3000 (repeatable)")
	f.StringVar(&o.content, "content", contentChannel, "how pages of extensions and web apps reach people: channel, or direct from this machine")
	must(cmd.MarkFlagDirname("extension"))
	must(cmd.RegisterFlagCompletionFunc("content", cobra.FixedCompletions([]cobra.Completion{contentChannel, contentDirect}, cobra.ShellCompDirectiveNoFileComp)))
}

// shownIn is what ls says of it; "" where there is nothing to say.
func (o *carrying) shownIn() string {
	if len(o.extensions)+len(o.urls) == 0 {
		return ""
	}
	return o.content
}

func (o *carrying) check() error {
	if o.content != contentChannel && o.content != contentDirect {
		return &usage{text: fmt.Sprintf("--content %s: it is channel or direct", o.content)}
	}
	return nil
}

// carried is what carrying has become.
type carried struct {
	apps       []*loopback.Provider
	runner     *extension.Runner // nil where there are no extensions
	extensions []*extension.Extension
	named      []*extension.Extension // those that --extension names themselves
	logs       string                 // folder; "" where there is none
}

// carry registers local web apps and starts extensions. What was started is in
// carried even where there is an error, to be closed. Logs of extensions stand
// beside the endpoint file, so that `extension logs` finds them with it.
func carry(s *host.Canvases, o carrying, stateDir, runtimeDir string, logger *slog.Logger) (c carried, err error) {
	direct := o.content == contentDirect
	for _, arg := range o.urls {
		if err := c.addApp(s, arg, loopback.Options{Direct: direct, Logger: logger}); err != nil {
			return c, err
		}
	}
	if len(o.extensions) == 0 {
		return c, nil
	}
	if err := ensurePrivate(runtimeDir); err != nil {
		return c, fmt.Errorf("extension logs: %w", err)
	}
	c.logs = logFolder(runtimeDir, os.Getpid())
	opts := extension.Options{
		Service: s, Session: host.DefaultSession, LogDir: c.logs, Version: buildVersion(), Direct: direct, Logger: logger,
	}
	if stateDir != memory {
		opts.WorkspaceDir = filepath.Join(stateDir, "extensions")
	}
	if c.runner, err = extension.New(opts); err != nil {
		return c, err
	}
	for _, dir := range o.extensions {
		if err := c.addExtensions(dir); err != nil {
			return c, about("--extension "+dir, err)
		}
	}
	return c, nil
}

func (c *carried) addApp(s *host.Canvases, arg string, opts loopback.Options) error {
	name, url, ok := strings.Cut(arg, "=")
	if !ok || name == "" || strings.Contains(name, ":") {
		return &usage{text: "--canvas-url: give a name and a URL, as in notes=http://127.0.0.1:3000"}
	}
	p, err := loopback.New(name, url, opts)
	if err != nil {
		return about("--canvas-url "+name, err)
	}
	c.apps = append(c.apps, p)
	reg, err := s.Register(canvas.Extension{ID: p.ID()}, p, p.Declaration())
	if err != nil {
		return about("--canvas-url "+name, err)
	}
	p.Watch(reg)
	return nil
}

func (c *carried) addExtensions(dir string) error {
	found, err := extension.Find(dir)
	if err != nil {
		return err
	}
	for _, f := range found {
		x, err := c.runner.Add(f)
		if err != nil {
			return err
		}
		c.extensions = append(c.extensions, x)
		if len(found) == 1 {
			c.named = append(c.named, x)
		}
	}
	return nil
}

// settle waits until extensions have said what they declare, and returns what a
// person is to know of those that cannot.
func (c *carried) settle(ctx context.Context) (notes []string) {
	for _, x := range c.extensions {
		if err := x.Settled(ctx); err != nil && ctx.Err() == nil {
			notes = append(notes, message(err))
		}
	}
	return notes
}

// message is an error's text for people, without its code.
func message(err error) string {
	if e, ok := err.(*canvas.Error); ok {
		return e.Message
	}
	return err.Error()
}

// shown are the canvases that are opened where nobody says which: the web apps,
// and the first of each extension that was named itself.
func (c *carried) shown() []canvas.OpenArgs {
	var list []canvas.OpenArgs
	for _, p := range c.apps {
		list = append(list, opening(p.ID(), p.ID()))
	}
	for _, x := range c.named {
		if set := x.Declarations(); len(set) > 0 {
			list = append(list, opening(x.ID(), set[0].CanvasID))
		}
	}
	return list
}

// opening opens a canvas under its own name (canvas.md section 9).
func opening(extensionID, canvasID string) canvas.OpenArgs {
	return canvas.OpenArgs{Session: host.DefaultSession, ExtensionID: extensionID, CanvasID: canvasID, InstanceID: canvasID}
}

// openShown opens what is shown where nobody says what. What is not of this
// program may fail: the host lives on, and says so.
func (s *started) openShown(ctx context.Context) (open []string, err error) {
	for _, args := range s.carried.shown() {
		if _, err := s.host.Canvases().Open(ctx, args); err != nil {
			s.notes = append(s.notes, args.CanvasID+" is not open: "+message(err))
			continue
		}
		open = append(open, args.CanvasID)
	}
	if len(open) == 0 || len(s.offers.folders) > 0 {
		mine := s.offers.shown()
		open = append(mine, open...)
		return open, s.openAll(ctx, mine)
	}
	return open, nil
}

// close ends what was started, when the host serves no more.
func (c *carried) close() {
	for _, p := range c.apps {
		p.Close()
	}
	if c.runner != nil {
		c.runner.Close()
	}
	if c.logs != "" {
		_ = os.RemoveAll(c.logs)
	}
}

// logFolder is where the host of a process id keeps its extensions' logs.
func logFolder(runtimeDir string, pid int) string {
	return filepath.Join(runtimeDir, strconv.Itoa(pid)+".logs")
}

// lsContent is the end of ls: how pages come that are not the host's own.
func (a *app) lsContent() error {
	to, err := a.resolve()
	if err != nil || to.content == "" {
		return nil // what the host is, the lines above say
	}
	if a.json {
		return printLine(a.out, typed("host", struct {
			Content string `json:"content"`
		}{to.content}))
	}
	text := "Pages of extensions and web apps come over the host's channel."
	if to.content == contentDirect {
		text = "Pages of extensions and web apps are loaded directly from the host's machine."
	}
	_, err = fmt.Fprintf(a.out, "\nContent: %s. %s\n", printable(to.content), text)
	return err
}
