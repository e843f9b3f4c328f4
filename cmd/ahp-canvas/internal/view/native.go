package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// viewNative provides the editor until ctx is canceled.
func viewNative(ctx context.Context, env *term.Env, to reach.Target, name string) error {
	h, err := to.Resolve(env)
	if err != nil {
		return err
	}
	e, err := openEditor(name, env.Out)
	if err != nil {
		return err
	}
	session := cmp.Or(to.Session, host.DefaultSession)
	v := &nativeView{editor: e, out: e.out, handles: map[string]*canvas.Handle{}}
	c, err := v.declare(ctx, h, session)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return h.Error(err)
	}
	defer c.Close()
	defer c.Unsubscribe(session) // so that the host removes the editor without a grace period
	fmt.Fprintf(v.out, "The canvas \"editor\" shows %s. Press Ctrl-C to remove it.\n", term.Printable(e.name))
	return v.run(ctx, c)
}

// declare connects to a host and declares the editor in a session.
func (v *nativeView) declare(ctx context.Context, h reach.Host, session string) (*client.Client, error) {
	c, err := client.Dial(ctx, h.AHP(), client.Options{Token: h.Token, Backoff: client.NewBackoff()})
	if err != nil {
		return nil, err
	}
	if err := c.Provide(ctx, session, "Terminal", v, editorDeclaration); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// nativeView provides one editor, in as many instances as the agent opens.
type nativeView struct {
	editor *editor
	out    io.Writer

	mu      sync.Mutex
	handles map[string]*canvas.Handle // by instance id
}

// Open shows the file in a new instance, or again in an open one.
func (v *nativeView) Open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	v.mu.Lock()
	v.handles[req.InstanceID] = h
	v.mu.Unlock()
	if req.Current == nil {
		fmt.Fprintf(v.out, "The agent opened %s:\n%s", term.Printable(req.InstanceID), v.editor.excerpt())
	}
	summary := v.editor.summary()
	return canvas.Opened{
		Title: summary.title, Status: summary.status, URL: h.ContentURL(summary.path),
		Instance: &panel{App: v.editor.app(), editor: v.editor, close: func() { v.closed(req.InstanceID) }},
	}, nil
}

func (v *nativeView) closed(instance string) {
	v.mu.Lock()
	delete(v.handles, instance)
	v.mu.Unlock()
	fmt.Fprintf(v.out, "%s was closed.\n", term.Printable(instance))
}

// panel is one open instance: the editor's actions, and its text as a page.
type panel struct {
	*canvas.App
	editor *editor
	close  func()
}

// Close removes the panel; the editor keeps its text for the next one.
func (p *panel) Close(context.Context) error {
	p.close()
	return nil
}

// Read serves the text as a page for other Views of the host.
func (p *panel) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	if len(req.Path.Segments) > 0 {
		return canvas.Content{}, ahp.ErrNotFound
	}
	name, text := p.editor.current()
	page := fmt.Sprintf("<!doctype html><meta charset=\"utf-8\"><title>%s</title><pre>%s</pre>\n", html.EscapeString(name), html.EscapeString(text))
	return canvas.Content{Data: []byte(page), ContentType: "text/html"}, nil
}

// run follows the file and the connection, and updates the panels.
func (v *nativeView) run(ctx context.Context, c *client.Client) error {
	ticks := time.NewTicker(checkInterval)
	defer ticks.Stop()
	connected, published := true, v.editor.summary()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(v.out, "The canvas \"editor\" is removed.")
			return nil
		case <-v.editor.changed:
		case <-ticks.C:
			v.editor.checkDisk()
		}
		err := c.Err()
		if given, ok := errors.AsType[*client.GivenUp](err); ok {
			return given
		}
		if (err == nil) != connected {
			connected = err == nil
			fmt.Fprintln(v.out, connectionText(connected))
		}
		if now := v.editor.summary(); connected && now != published && v.publish(ctx, now) {
			published = now
		}
	}
}

// publish updates the panels and reports whether all were updated. One that the host does
// not list yet, or has just lost, is updated at the next tick.
func (v *nativeView) publish(ctx context.Context, s summary) bool {
	v.mu.Lock()
	var handles []*canvas.Handle
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
		{Name: "get_text", Description: "Returns the text in the editor, whether it is saved or not."},
		{Name: "read", Description: "Reads the file from disk again, discards unsaved changes, and returns the text."},
		{Name: "replace_text", Description: "Replaces a text that occurs exactly once.", InputSchema: ahp.Value(`{"type":"object","required":["find","replace"],"additionalProperties":false,
			"properties":{"find":{"type":"string","minLength":1},"replace":{"type":"string"}}}`)},
		{Name: "append", Description: "Adds text at the end.", InputSchema: ahp.Value(`{"type":"object","required":["text"],"additionalProperties":false,
			"properties":{"text":{"type":"string"}}}`)},
		{Name: "save", Description: "Writes the text to the file. Fails if another program has changed the file since it was read."},
	},
}
