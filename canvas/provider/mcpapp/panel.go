package mcpapp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/process"
)

const (
	panelCalls = 50
	panelLog   = 8 << 10
)

// callNote is a call of a tool, as the panel and the log show it: no arguments.
type callNote struct {
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`
	Tool    string    `json:"tool"`
	Outcome string    `json:"outcome"`
	Took    string    `json:"took"`
}

// noteCall records a call.
func (g *Running) noteCall(who, tool string, begun time.Time, result *sdk.CallToolResult, err error) {
	n := callNote{Time: begun.UTC(), Who: who, Tool: oneLine(tool, 80), Outcome: "done", Took: time.Since(begun).Round(time.Millisecond).String()}
	switch {
	case err != nil:
		n.Outcome = "failed"
	case result != nil && result.IsError:
		n.Outcome = "error"
	}
	g.log.Note("%s called %s: %s after %s", n.Who, n.Tool, n.Outcome, n.Took)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, n)
	g.calls = g.calls[max(0, len(g.calls)-panelCalls):]
}

// invoke runs an action that is a tool of the server. One that takes long is answered
// before its result, which is then an event. ctx is the caller's, and life that of the
// canvas.
func (g *Running) invoke(ctx, life context.Context, h *canvas.Handle, action string, input ahp.Value) (ahp.Value, error) {
	c, err := g.ready(ctx)
	if err != nil {
		return nil, err
	}
	tool := c.tool(action)
	if tool == nil || !uiOf(tool).model || uiOf(tool).uri != "" {
		return nil, canvas.Errorf(canvas.CodeNoHandler, "%s has no tool %q any more", g.server.Name, action)
	}
	done := make(chan outcome, 1)
	g.runner.running.Go(func() {
		begun := time.Now()
		result, err := c.callTool(life, action, json.RawMessage(withDefaults(tool, input)))
		g.noteCall("agent", action, begun, result, err)
		done <- outcome{result, err}
	})
	wait := g.runner.opts.InvokeWait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)-beforeDeadline)
	}
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	select {
	case o := <-done:
		return g.actionValue(o)
	case <-timer.C:
	case <-ctx.Done():
	}
	g.runner.running.Go(func() { // ends with the call
		o := <-done
		_ = h.Raise(resultEvent(action, o.result, o.err, g))
	})
	return ahp.Value(`{"pending":true}`), nil
}

// actionValue is the value or the error of an action.
func (g *Running) actionValue(o outcome) (ahp.Value, error) {
	if o.err != nil {
		return nil, g.toAgent(o.err)
	}
	if !o.result.IsError {
		return forAgent(o.result), nil
	}
	text := "the tool failed"
	for _, b := range o.result.Content {
		if t, ok := b.(*sdk.TextContent); ok && t.Text != "" {
			text = validPrefix(t.Text, 4<<10)
			break
		}
	}
	return nil, canvas.Errorf(codeToolError, "%s", text)
}

// validPrefix returns at most n bytes of a text, and no part of a character.
func validPrefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(n, 0)], "")
}

// panel is the open server panel.
type panel struct {
	server *Running
	handle *canvas.Handle
	web    *web
	ctx    context.Context // done when the panel ends
	cancel context.CancelFunc
}

// openPanel opens the server panel.
func (g *Running) openPanel(h *canvas.Handle) (canvas.Opened, error) {
	p := &panel{server: g, handle: h}
	p.ctx, p.cancel = context.WithCancel(h.Context())
	p.web = newWeb(http.HandlerFunc(p.serve), h, g.runner.opts.Logger)
	g.runner.running.Go(func() { // ends with the panel, also if it becomes stale
		<-p.ctx.Done()
		p.web.close()
	})
	return canvas.Opened{Instance: p, URL: h.ContentURL("/"), Title: g.server.Name + " (server)", HTTP: true}, nil
}

// Invoke calls a tool of the server.
func (p *panel) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	return p.server.invoke(ctx, p.ctx, p.handle, action, input)
}

// Close ends the panel.
func (p *panel) Close(context.Context) error {
	p.cancel()
	p.web.close()
	return nil
}

// Message handles http/1.
func (p *panel) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	p.web.bridge.Message(ctx, from, payload)
}

// ViewGone ends the requests of a View.
func (p *panel) ViewGone(from canvas.View) { p.web.bridge.ViewGone(from) }

// Read serves the panel's files.
func (p *panel) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return p.web.read(ctx, req)
}

// ServeApp answers plain HTTP, where a gateway shows the panel.
func (p *panel) ServeApp(w http.ResponseWriter, r *http.Request) { p.serve(w, r) }

// panelState is what the panel shows.
type panelState struct {
	Name  string     `json:"name"`
	Up    bool       `json:"up"`
	Tools int        `json:"tools"`
	Calls []callNote `json:"calls"`
	Log   string     `json:"log"`
}

func (p *panel) serve(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /":
		serveFile(w, "panel.html", "text/html; charset=utf-8")
	case "GET /-/panel.js":
		serveFile(w, "panel.js", "text/javascript; charset=utf-8")
	case "GET /-/state":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(ahp.MustMarshal(p.state()))
	default:
		http.Error(w, "This canvas has no such page.", http.StatusNotFound)
	}
}

func (p *panel) state() panelState {
	g := p.server
	s := panelState{Name: g.server.Name, Calls: []callNote{}}
	if c := g.current(); c != nil {
		s.Up, s.Tools = true, len(c.tools())
	}
	g.mu.Lock()
	s.Calls = append(s.Calls, g.calls...)
	g.mu.Unlock()
	if text, err := process.ReadLog(g.runner.opts.LogDir, g.server.Name); err == nil {
		s.Log = g.redact(strings.ToValidUTF8(string(text[max(0, len(text)-panelLog):]), ""))
	}
	return s
}
