package mcpapp

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// beforeDeadline is how long before its caller's deadline an open stops waiting for the
// tool's result.
const beforeDeadline = time.Second

// Open opens a canvas: it reads the tool's page, and then calls the tool. A canvas that was
// stale shows what it showed before, and no tool is called for it.
func (g *Running) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	c, err := g.ready(ctx)
	if err != nil {
		return canvas.Opened{}, err
	}
	tool := c.tool(req.CanvasID)
	if tool == nil || uiOf(tool).uri == "" || !uiOf(tool).model {
		if req.CanvasID == g.panelID(c.tools()) {
			return g.openPanel(h)
		}
		return canvas.Opened{}, canvas.Errorf(canvas.CodeNotFound, "%s has no canvas %q any more", g.server.Name, req.CanvasID)
	}
	page, err := c.page(ctx, uiOf(tool).uri)
	if err != nil {
		return canvas.Opened{}, g.toAgent(err)
	}
	i, _ := req.Current.(*instance)
	if i == nil {
		i = newInstance(g, tool, h)
		i.restore(req.Saved)
	}
	arguments := withDefaults(tool, req.Input)
	if req.Restored {
		return i.showAgain(c, page, arguments)
	}
	opened, err := i.show(ctx, c, page, arguments)
	if err != nil && req.Current == nil {
		_ = i.Close(context.WithoutCancel(ctx)) // the host does not close an instance whose open failed
	}
	return opened, err
}

// showAgain shows what was saved, also if that is a call with other arguments: an open that the
// end of the host interrupted. No tool is called.
func (i *instance) showAgain(c *conn, page *resource, arguments ahp.Value) (canvas.Opened, error) {
	i.mu.Lock()
	if i.kept.Arguments == nil { // nothing could be saved
		i.kept.Arguments, i.kept.Canceled = arguments, lostResult
	}
	shown := i.kept.Arguments
	i.mu.Unlock()
	i.attach(c, page, nil)
	opened := i.opened(nil)
	if !ahp.Equal(shown, arguments) {
		opened.Input = shown
	}
	return opened, i.save()
}

// show is the rest of an open. Unless the canvas shows a call with these arguments already,
// the tool is called.
func (i *instance) show(ctx context.Context, c *conn, page *resource, arguments ahp.Value) (canvas.Opened, error) {
	i.mu.Lock()
	same := i.kept.Generation > 0 && ahp.Equal(i.kept.Arguments, arguments)
	fresh := i.conn != c
	wasOpen := i.page != nil
	i.mu.Unlock()
	switch {
	case same && !fresh: // nothing changes
		return i.opened(nil), nil
	case same: // it was stale
		i.attach(c, page, nil)
		return i.opened(nil), i.save()
	}
	if wasOpen {
		i.teardown(ctx)
	}
	i.attach(c, page, arguments)
	if err := i.save(); err != nil { // from now on the call may have happened
		return canvas.Opened{}, err
	}
	result := i.begin(c, arguments)
	wait := i.server.runner.opts.OpenWait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)-beforeDeadline)
	}
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	select {
	case r := <-result:
		if r.err != nil && !wasOpen {
			return canvas.Opened{}, i.server.toAgent(r.err)
		}
		if r.err == nil {
			return i.opened(forAgent(r.result)), nil
		}
	case <-timer.C:
		i.answeredLate()
	case <-ctx.Done():
		return canvas.Opened{}, ctx.Err()
	}
	return i.opened(nil), nil
}

// outcome is what a tool call ended with.
type outcome struct {
	result *sdk.CallToolResult
	err    error
}

// begin calls the tool, once, in a goroutine that ends with the call. The result goes to
// the pages, and to the channel.
func (i *instance) begin(c *conn, arguments ahp.Value) <-chan outcome {
	done := make(chan outcome, 1)
	i.mu.Lock()
	generation := i.kept.Generation
	name := i.tool.Name
	i.mu.Unlock()
	i.server.runner.running.Go(func() {
		begun := time.Now()
		result, err := c.callTool(i.ctx, name, arguments)
		i.server.noteCall("agent", name, begun, result, err)
		i.finish(generation, result, err)
		done <- outcome{result, err}
	})
	return done
}

// toAgent converts an error for an agent.
func (g *Running) toAgent(err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return canvas.Errorf(codeToolError, "%s", oneLine(g.redact(e.Message), 4<<10))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return canvas.Errorf(canvas.CodeHandlerError, "%s", oneLine(g.redact(err.Error()), 4<<10))
}

// codeToolError is the code of an action whose tool reported an error.
const codeToolError = "mcp_tool_error"
