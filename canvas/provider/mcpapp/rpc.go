package mcpapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

const (
	maxRequest  = 4 << 20 // of a View
	maxDepth    = 128
	maxValues   = 1 << 20
	keepAlive   = 10 * time.Second // between spaces in front of an answer that takes long
	codeServer  = -32000
	codeMethod  = -32601
	codeParams  = -32602
	codeInvalid = -32600
)

// rpcRequest is a JSON-RPC request of a View. Its id is any JSON value and is returned
// unchanged.
type rpcRequest struct {
	Version string    `json:"jsonrpc,omitzero"`
	ID      ahp.Value `json:"id,omitzero"`
	Method  string    `json:"method"`
	Params  ahp.Value `json:"params,omitzero"`
}

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// serveRPC answers one request of a View. The head goes out at once and a space every 10 s,
// so that a request may take longer than http/1 waits for a head.
func (i *instance) serveRPC(w http.ResponseWriter, r *http.Request) {
	req, bad := readRequest(r.Body, maxRequest)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if bad != nil {
		_, _ = w.Write(response(nil, nil, bad))
		return
	}
	type done struct {
		result any
		err    error
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(i.ctx, cancel)()
	answer := make(chan done, 1)
	go func() {
		result, err := i.rpc(ctx, req)
		answer <- done{result, err}
	}()
	if a, gone := awaitAnswer(w, answer, cancel); !gone {
		_, _ = w.Write(response(req.ID, a.result, i.toView(a.err)))
	}
}

// awaitAnswer waits for an answer, and writes a space every 10 s meanwhile. If the reader is
// gone it cancels the call, and still waits for it.
func awaitAnswer[T any](w io.Writer, answer <-chan T, cancel func()) (a T, gone bool) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case a := <-answer:
			return a, false
		case <-tick.C:
			if _, err := io.WriteString(w, " "); err != nil {
				cancel()
				return <-answer, true
			}
		}
	}
}

// readRequest reads one JSON-RPC message.
func readRequest(body io.Reader, limit int64) (rpcRequest, *rpcError) {
	var req rpcRequest
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil || int64(len(raw)) > limit {
		return req, &rpcError{codeInvalid, fmt.Sprintf("a request has at most %d bytes", limit)}
	}
	if err := ahp.Unmarshal(raw, &req); err != nil {
		return req, &rpcError{codeInvalid, "this is not a JSON-RPC message"}
	}
	if depth, values := ahp.Measure(raw); depth > maxDepth || values > maxValues {
		return rpcRequest{}, &rpcError{codeInvalid, fmt.Sprintf("a request has at most %d levels and %d values", maxDepth, maxValues)}
	}
	return req, nil
}

// response is a JSON-RPC response of at most 16 MiB.
func response(id ahp.Value, result any, failed *rpcError) []byte {
	if id == nil {
		id = ahp.Null
	}
	if failed == nil {
		raw, err := json.Marshal(struct {
			Version string    `json:"jsonrpc"`
			ID      ahp.Value `json:"id"`
			Result  any       `json:"result"`
		}{"2.0", id, result})
		if err == nil && len(raw) <= maxResult {
			return raw
		}
		failed = &rpcError{codeServer, fmt.Sprintf("the result has more than %d bytes", maxResult)}
	}
	return ahp.MustMarshal(struct {
		Version string    `json:"jsonrpc"`
		ID      ahp.Value `json:"id"`
		Error   *rpcError `json:"error"`
	}{"2.0", id, failed})
}

// toView converts an error for a View: the server's own code and message, or plain words
// without addresses.
func (i *instance) toView(err error) *rpcError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &rpcError{e.Code, oneLine(i.server.redact(e.Message), 4<<10)}
	}
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return &rpcError{codeServer, e.Message}
	}
	return &rpcError{codeServer, "the call failed"}
}

// errUnknownTool answers for unknown and for forbidden tools alike.
var errUnknownTool = &rpcError{codeParams, "unknown tool"}

// rpc runs a request of a View at the connection of now.
func (i *instance) rpc(ctx context.Context, req rpcRequest) (any, error) {
	i.mu.Lock()
	c := i.conn
	i.mu.Unlock()
	if c != i.server.current() {
		return nil, errLostCall
	}
	limit := i.server.runner.opts.CallTime
	switch req.Method {
	case "tools/call":
		return i.viewTool(ctx, c, req.Params)
	case "tools/list":
		list := []*sdk.Tool{}
		for _, t := range c.tools() {
			if uiOf(t).app {
				list = append(list, t)
			}
		}
		return &sdk.ListToolsResult{Tools: list}, nil
	case "resources/read":
		return withParams(req.Params, func(p *sdk.ReadResourceParams) (any, error) {
			return call(ctx, c, limit, func(ctx context.Context) (any, error) { return c.session.ReadResource(ctx, p) })
		})
	case "resources/list":
		return withParams(req.Params, func(p *sdk.ListResourcesParams) (any, error) {
			return call(ctx, c, limit, func(ctx context.Context) (any, error) { return c.session.ListResources(ctx, p) })
		})
	case "resources/templates/list":
		return withParams(req.Params, func(p *sdk.ListResourceTemplatesParams) (any, error) {
			return call(ctx, c, limit, func(ctx context.Context) (any, error) { return c.session.ListResourceTemplates(ctx, p) })
		})
	}
	return nil, &rpcError{codeMethod, "method not found"}
}

// withParams decodes parameters, without their _meta: a View's progress tokens are its own.
func withParams[P any](raw ahp.Value, fn func(*P) (any, error)) (any, error) {
	p := new(P)
	members := map[string]ahp.Value{}
	if raw != nil && ahp.Unmarshal(raw, &members) != nil {
		return nil, &rpcError{codeParams, "invalid params"}
	}
	delete(members, "_meta")
	if json.Unmarshal(ahp.MustMarshal(members), p) != nil {
		return nil, &rpcError{codeParams, "invalid params"}
	}
	return fn(p)
}

// viewTool calls a tool that Views may call: of the same server, as listed now.
func (i *instance) viewTool(ctx context.Context, c *conn, params ahp.Value) (any, error) {
	var p struct {
		Name      string    `json:"name"`
		Arguments ahp.Value `json:"arguments,omitzero"`
	}
	if params == nil || ahp.Unmarshal(params, &p) != nil || p.Arguments != nil && p.Arguments.Kind() != '{' {
		return nil, &rpcError{codeParams, "invalid params"}
	}
	tool := c.tool(p.Name)
	if tool == nil || !uiOf(tool).app {
		return nil, errUnknownTool
	}
	var arguments any = map[string]any{}
	if p.Arguments != nil {
		arguments = json.RawMessage(p.Arguments)
	}
	begun := time.Now()
	result, err := c.callTool(ctx, p.Name, arguments)
	i.server.noteCall("a page", p.Name, begun, result, err)
	if err != nil {
		return nil, err
	}
	return result, nil
}
