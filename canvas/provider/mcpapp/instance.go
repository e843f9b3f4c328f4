package mcpapp

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// instance is an open canvas of a tool with a UI.
type instance struct {
	*view.Pages
	server   *Running
	canvasID string // the tool's name
	tool     *sdk.Tool
	handle   *canvas.Handle
	web      *web
	ctx      context.Context // done when the instance ends; then calls of Views end too
	cancel   context.CancelFunc
	says     sayRates

	mu    sync.Mutex
	conn  *conn // the connection that the canvas was opened with
	page  *resource
	grant granted
	kept  kept
	late  bool                           // the open was answered before the result
	views map[canvas.View]bool           // pages that said "here"
	asked map[int64]map[canvas.View]bool // teardowns, and the pages that have not answered
	askID int64
	quiet chan struct{} // closed, and replaced, when a page answered a teardown
}

// kept is what [canvas.Handle.Save] keeps of an instance: what it shows, so that no tool is
// called again for it.
type kept struct {
	// Generation rises with each call of the tool and each new connection. Pages load again
	// when it changes.
	Generation int64     `json:"generation"`
	Arguments  ahp.Value `json:"arguments"`
	Result     ahp.Value `json:"result,omitzero"`
	// Canceled says why there is no result.
	Canceled string `json:"canceled,omitzero"`
}

// maxKept is the limit of saved data, in bytes.
const maxKept = 240 << 10

// The reasons for a call without a result.
const (
	lostResult  = "The connection to the server was lost during the call. It may have happened. Open the canvas with other input to call the tool again."
	largeResult = "The result was too large to keep over a restart. Open the canvas with other input to call the tool again."
)

func newInstance(g *Running, tool *sdk.Tool, h *canvas.Handle) *instance {
	i := &instance{server: g, canvasID: tool.Name, tool: tool, handle: h, views: map[canvas.View]bool{}, asked: map[int64]map[canvas.View]bool{}, quiet: make(chan struct{})}
	i.ctx, i.cancel = context.WithCancel(h.Context())
	i.Pages = view.New(view.Options{To: h, OnMessage: i.fromPage})
	i.web = newWeb(http.HandlerFunc(i.serve), h, g.runner.opts.Logger)
	g.track(i, true)
	g.runner.running.Go(func() { // ends with the instance, also if it becomes stale
		<-i.ctx.Done()
		g.track(i, false)
		i.web.close()
	})
	return i
}

// restore takes what was saved. A call that was pending then is lost.
func (i *instance) restore(saved []byte) {
	var k kept
	if len(saved) == 0 || ahp.Unmarshal(saved, &k) != nil {
		return
	}
	if k.Result == nil && k.Canceled == "" {
		k.Canceled = lostResult
	}
	i.kept = k
}

// attach makes a connection and a page current. With arguments the canvas shows a new call.
func (i *instance) attach(c *conn, page *resource, arguments ahp.Value) {
	g := i.server
	i.mu.Lock()
	defer i.mu.Unlock()
	i.conn, i.page = c, page
	if tool := c.tool(i.tool.Name); tool != nil {
		i.tool = tool
	}
	i.grant = grant(page.declared, g.runner.opts.Allowed(g.server.Name, i.tool.Name))
	if i.grant.dropped > 0 {
		g.log.Note("%d domains that %s declares are no origins; they are ignored", i.grant.dropped, i.tool.Name)
	}
	i.kept.Generation++
	i.late = false
	if arguments != nil {
		i.kept = kept{Generation: i.kept.Generation, Arguments: arguments}
	}
}

// save keeps what the canvas shows.
func (i *instance) save() error {
	i.mu.Lock()
	k := i.kept
	i.mu.Unlock()
	data := ahp.MustMarshal(k)
	if len(data) > maxKept && k.Result != nil {
		k.Result, k.Canceled = nil, largeResult
		data = ahp.MustMarshal(k)
	}
	if len(data) > maxKept {
		return canvas.Errorf(canvas.CodeInputInvalid, "the input is too large to keep: at most %d bytes are allowed", maxKept)
	}
	return i.handle.Save(i.ctx, data)
}

// answeredLate records that the open was answered before the result.
func (i *instance) answeredLate() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.late = i.kept.Result == nil && i.kept.Canceled == ""
}

// finish shows the outcome of a call, unless a later call has replaced it.
func (i *instance) finish(generation int64, result *sdk.CallToolResult, err error) {
	var raw ahp.Value
	if err == nil {
		if raw, err = ahp.Marshal(result); err == nil && len(raw) > maxResult {
			raw, err = nil, fmt.Errorf("the result has more than %d bytes", maxResult)
		}
	}
	i.mu.Lock()
	if i.kept.Generation != generation || i.ctx.Err() != nil {
		i.mu.Unlock()
		return
	}
	i.kept.Result = raw
	if err != nil {
		i.kept.Canceled = i.server.toAgent(err).Error()
	}
	late, tool := i.late, i.tool.Name
	i.mu.Unlock()
	g := i.server
	if err := i.save(); err != nil && i.ctx.Err() == nil {
		g.runner.opts.Logger.Warn("a result is not kept over a restart", "server", g.server.Name, "err", err)
	}
	if late {
		_ = i.handle.Raise(resultEvent(tool, result, err, g))
	}
	_ = i.handle.SetStatus(i.ctx, i.status())
	_ = i.handle.Post(i.ctx, ahp.MustMarshal(toPage{App: "result", Generation: generation}))
}

// status is what the card says: the server's name, or what its call does.
func (i *instance) status() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.kept.Canceled != "":
		return i.server.server.Name + ": " + i.kept.Canceled
	case i.kept.Result == nil:
		return "Running " + titleOf(i.tool) + " …"
	case isError(i.kept.Result):
		return i.server.server.Name + ": failed"
	}
	return i.server.server.Name
}

func isError(result ahp.Value) bool {
	var r struct {
		IsError bool `json:"isError,omitzero"`
	}
	return ahp.Unmarshal(result, &r) == nil && r.IsError
}

// opened is the answer to an open, with what the agent reads.
func (i *instance) opened(answer ahp.Value) canvas.Opened {
	status := i.status()
	i.mu.Lock()
	defer i.mu.Unlock()
	return canvas.Opened{
		Instance: i, Answer: answer, URL: i.handle.ContentURL(fmt.Sprintf("/?g=%d", i.kept.Generation)), Title: titleOf(i.tool), Status: status, HTTP: true, Links: true,
	}
}

// Invoke runs one of the canvas's actions: its own, or a tool of the server.
func (i *instance) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	switch action {
	case actionResult:
		return i.answerResult(), nil
	case actionListTools, actionCallTool:
		return i.Pages.Invoke(ctx, action, input)
	}
	return i.server.invoke(ctx, i.ctx, i.handle, action, input)
}

// answerResult is the value of app_result.
func (i *instance) answerResult() ahp.Value {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := struct {
		Arguments ahp.Value `json:"arguments"`
		Result    ahp.Value `json:"result,omitzero"`
		Reason    string    `json:"reason,omitzero"`
		Running   bool      `json:"running,omitzero"`
	}{Arguments: i.kept.Arguments, Reason: i.kept.Canceled, Running: i.kept.Result == nil && i.kept.Canceled == ""}
	var r sdk.CallToolResult
	if i.kept.Result != nil && r.UnmarshalJSON(i.kept.Result) == nil {
		a.Result = forAgent(&r)
	}
	return ahp.MustMarshal(a)
}

// Close asks the pages to leave, and ends the calls of Views.
func (i *instance) Close(ctx context.Context) error {
	i.teardown(ctx)
	i.cancel()
	i.web.close()
	return i.Pages.Close(ctx)
}

// Message handles a message of a View: http/1, view/1, or of the wrapper.
func (i *instance) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if !i.web.bridge.Message(ctx, from, payload) {
		i.Pages.Message(ctx, from, payload)
	}
}

// ViewGone ends the requests of a View.
func (i *instance) ViewGone(from canvas.View) {
	i.web.bridge.ViewGone(from)
	i.Pages.ViewGone(from)
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.views, from)
	for _, waiting := range i.asked {
		delete(waiting, from)
	}
	i.wake()
}

// Read serves the wrapper's files, and the page's in single-document mode.
func (i *instance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return i.web.read(ctx, req)
}

// ServeApp answers plain HTTP, where a gateway shows the canvas.
func (i *instance) ServeApp(w http.ResponseWriter, r *http.Request) { i.serve(w, r) }

var (
	_ canvas.Messenger = (*instance)(nil)
	_ canvas.Reader    = (*instance)(nil)
	_ canvas.WebApp    = (*instance)(nil)
)

// toPage is a message to the wrapper page.
type toPage struct {
	App        string `json:"app"`
	Generation int64  `json:"generation,omitzero"`
	ID         int64  `json:"id,omitzero"`
}

// fromPage handles a message of the wrapper page that is neither http/1 nor view/1.
func (i *instance) fromPage(_ context.Context, from canvas.View, payload ahp.Value) {
	var m toPage
	if ahp.Unmarshal(payload, &m) != nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch m.App {
	case "here":
		i.views[from] = true
	case "torn":
		if waiting := i.asked[m.ID]; waiting[from] {
			delete(waiting, from)
			i.wake()
		}
	}
}

// wake wakes teardowns. mu is held.
func (i *instance) wake() {
	close(i.quiet)
	i.quiet = make(chan struct{})
}

// teardown asks all pages to leave, side by side, and waits for their answers, briefly.
// Any answer will do.
func (i *instance) teardown(ctx context.Context) {
	i.mu.Lock()
	if len(i.views) == 0 {
		i.mu.Unlock()
		return
	}
	i.askID++
	id, waiting := i.askID, map[canvas.View]bool{}
	for v := range i.views {
		waiting[v] = !v.ReadOnly()
		if v.ReadOnly() {
			delete(waiting, v)
		}
	}
	i.asked[id] = waiting
	i.mu.Unlock()
	defer func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.asked, id)
	}()
	if i.handle.Post(ctx, ahp.MustMarshal(toPage{App: "teardown", ID: id})) != nil {
		return // the handle has ended: pages receive nothing any more
	}
	timer := time.NewTimer(i.server.runner.opts.Teardown)
	defer timer.Stop()
	for {
		i.mu.Lock()
		left, quiet := len(waiting), i.quiet
		i.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-quiet:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
