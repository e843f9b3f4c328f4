package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// lookTime is how often the disk and the connection are looked at.
const lookTime = 500 * time.Millisecond

// lostWords are by whether the host is there.
var lostWords = map[bool]string{true: "Connected again.", false: "The host is not there; looking for it…"}

func (a *app) viewCommand() *cobra.Command {
	var native bool
	cmd := &cobra.Command{
		Use:   "view [LINK] | view --native FILE",
		Short: "Offer open canvases at urls of this machine, or a file as one",
		Long: `Look at a host from this machine: each of its open canvases gets a loopback url
of its own here, for apps that embed only those. LINK is what serve prints, of a
host anywhere, also behind a relay; without one it is the host that runs here.
It holds a token, and other users of this machine can read command lines: as -
it is read from standard input.

With --native, declare an editor canvas on a file, as a native client does: the
agent opens it, reads and changes the text and saves it, and this terminal shows
what happens. Who looks at the host's page sees the text too. Ctrl-C takes it
away.

With --json each change is one object:
  {"instanceId","canvasId","title"?,"availability","url"?,"closed"?}`,
		Example: `  ahp-canvas view 'https://canvas.example/#tkn=…'
  ahp-canvas view - < link.txt
  ahp-canvas view --native notes.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: does(func(ctx context.Context, names []string) error {
			switch {
			case !native:
				return a.viewLocal(ctx, strings.Join(names, ""))
			case len(names) == 0:
				return &usage{text: "--native needs the FILE to edit"}
			}
			return a.viewNative(ctx, names[0])
		}),
	}
	cmd.Flags().BoolVar(&native, "native", false, "edit FILE in this program")
	a.jsonFlag(cmd)
	a.targetFlags(cmd)
	a.sessionFlag(cmd)
	return cmd
}

// viewNative provides the editor until ctx ends, which is no failure.
func (a *app) viewNative(ctx context.Context, name string) error {
	to, err := a.resolve()
	if err != nil {
		return err
	}
	e, err := openEditor(name, a.out)
	if err != nil {
		return err
	}
	session := a.to.session
	if session == "" {
		session = host.DefaultSession
	}
	token := to.view
	if token == "" {
		token = to.token
	}
	v := &nativeView{editor: e, out: e.out, handles: map[string]*client.Handle{}}
	c, err := client.Dial(ctx, ahpURL(to.url), client.Options{Token: token, Provider: v, Backoff: client.NewBackoff()})
	if err != nil {
		return unlessEnded(ctx, at(to, err))
	}
	defer c.Close()
	if err := c.Provide(ctx, session, "Terminal", editorDeclaration); err != nil {
		return unlessEnded(ctx, at(to, err))
	}
	defer c.Unsubscribe(session) // the host forgets the editor at once, without a grace period
	fmt.Fprintf(v.out, "The canvas \"editor\" shows %s. Ctrl-C takes it away.\n", printable(e.name))
	return v.run(ctx, c)
}

// ahpURL is a host's AHP endpoint beside its agent's door.
func ahpURL(mcp string) string {
	u, err := url.Parse(mcp)
	if err != nil {
		return mcp // dialling says what is wrong with it
	}
	u.Scheme = "ws" + strings.TrimPrefix(u.Scheme, "http")
	u.Path = strings.TrimSuffix(u.Path, "/mcp") + "/ahp"
	return u.String()
}

// nativeView provides one editor in as many panels as the agent opens.
type nativeView struct {
	editor *editor
	out    io.Writer

	mu      sync.Mutex
	handles map[string]*client.Handle // by instance id
}

// Open shows the file in one more panel, or in the same one again.
func (v *nativeView) Open(_ context.Context, req canvas.OpenRequest, h *client.Handle) (canvas.Opened, error) {
	v.mu.Lock()
	v.handles[req.InstanceID] = h
	v.mu.Unlock()
	if req.Current == nil {
		fmt.Fprintf(v.out, "The agent opened %s:\n%s", printable(req.InstanceID), v.editor.excerpt())
	}
	shown := v.editor.shown()
	return canvas.Opened{
		Title: shown.title, Status: shown.status, URL: h.ContentURL(shown.path),
		Instance: &panel{App: v.editor.app(), editor: v.editor, close: func() { v.closed(req.InstanceID) }},
	}, nil
}

func (v *nativeView) closed(instance string) {
	v.mu.Lock()
	delete(v.handles, instance)
	v.mu.Unlock()
	fmt.Fprintf(v.out, "%s was closed.\n", printable(instance))
}

// panel is one open editor: its actions, and the text as a page.
type panel struct {
	*canvas.App
	editor *editor
	close  func()
}

// Close forgets the panel; the editor keeps its text for the next one.
func (p *panel) Close(context.Context) error {
	p.close()
	return nil
}

// Read serves the text as a page, for who looks from elsewhere.
func (p *panel) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if len(req.Path.Segments) > 0 {
		return canvas.Content{}, ahp.ErrNotFound
	}
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	page := fmt.Sprintf("<!doctype html><meta charset=\"utf-8\"><title>%s</title><pre>%s</pre>\n", html.EscapeString(p.editor.name), html.EscapeString(p.editor.text))
	return canvas.Content{Data: []byte(page), ContentType: "text/html"}, nil
}

// run keeps the panels, the disk and the person up to date.
func (v *nativeView) run(ctx context.Context, c *client.Client) error {
	ticks := time.NewTicker(lookTime)
	defer ticks.Stop()
	connected, told := true, v.editor.shown()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(v.out, "The editor is gone.")
			return nil
		case <-v.editor.changed:
		case <-ticks.C:
			v.editor.look()
		}
		err := c.Err()
		if given, ok := errors.AsType[*client.GivenUp](err); ok {
			return given
		}
		if (err == nil) != connected {
			connected = err == nil
			fmt.Fprintln(v.out, lostWords[connected])
		}
		if now := v.editor.shown(); connected && now != told && v.tell(ctx, now) {
			told = now
		}
	}
}

// tell updates the panels and reports whether all of them know. One that is not
// listed yet, or lost its host just now, is told at the next look.
func (v *nativeView) tell(ctx context.Context, s shown) bool {
	v.mu.Lock()
	var handles []*client.Handle
	for _, h := range v.handles {
		handles = append(handles, h)
	}
	v.mu.Unlock()
	all := true
	for _, h := range handles {
		err := h.Update(ctx, canvas.Update{Title: ahp.Set(s.title), Status: ahp.Set(s.status), URL: ahp.Set(h.ContentURL(s.path))})
		all = all && err == nil
	}
	return all
}

// editorDeclaration is what the agent reads.
var editorDeclaration = canvas.Declaration{
	CanvasID: "editor", DisplayName: "Editor", Description: "A text file that a person has open in a terminal.",
	Actions: []canvas.Action{
		{Name: "get_text", Description: "Returns the text as it stands in the editor, saved or not."},
		{Name: "read", Description: "Reads the file again from disk, drops what was not saved, and returns the text."},
		{Name: "replace_text", Description: "Replaces the one place where a text stands.", InputSchema: ahp.Value(`{"type":"object","required":["find","replace"],"additionalProperties":false,
			"properties":{"find":{"type":"string","minLength":1},"replace":{"type":"string"}}}`)},
		{Name: "append", Description: "Adds text at the end.", InputSchema: ahp.Value(`{"type":"object","required":["text"],"additionalProperties":false,
			"properties":{"text":{"type":"string"}}}`)},
		{Name: "save", Description: "Writes the text to the file. Refused where the file was changed on disk meanwhile."},
	},
}
