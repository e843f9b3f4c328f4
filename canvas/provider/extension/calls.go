package extension

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

const (
	maxCalls    = 32 // unanswered requests to one process (canvas/PROTOCOL.md section 8)
	maxTimeouts = 3  // consecutive timeouts after which a process is probed

	probeTimeout = 5 * time.Second
)

// errHung is why the host ends a process that does not answer.
var errHung = errors.New("it did not answer its last 3 requests in time, nor a ping")

// The parameters of the requests to an extension (canvas/PROTOCOL.md section 12).
type (
	target struct {
		SessionID   string `json:"sessionId"`
		ExtensionID string `json:"extensionId"`
		CanvasID    string `json:"canvasId"`
		InstanceID  string `json:"instanceId"`
	}
	canvasesCapability struct {
		Canvases bool `json:"canvases"`
	}
	hostContext struct {
		Capabilities canvasesCapability `json:"capabilities"`
	}
	sessionContext struct {
		WorkingDirectory string `json:"workingDirectory,omitzero"`
	}
	openParams struct {
		target
		Input   ahp.Value      `json:"input,omitzero"`
		Host    hostContext    `json:"host"`
		Session sessionContext `json:"session"`
	}
	invokeParams struct {
		target
		ActionName string         `json:"actionName"`
		Input      ahp.Value      `json:"input,omitzero"`
		Host       hostContext    `json:"host"`
		Session    sessionContext `json:"session"`
	}
	closeParams struct {
		target
		Host    hostContext    `json:"host"`
		Session sessionContext `json:"session"`
	}
	openResult struct {
		URL    string `json:"url,omitzero"`
		Title  string `json:"title,omitzero"`
		Status string `json:"status,omitzero"`
	}
)

// call sends one request and waits for the response. It never retries. If the
// response arrives after ctx is done, call passes its error to late, which can be nil.
func (p *process) call(ctx context.Context, method string, params any, late func(error)) (ahp.Value, error) {
	select {
	case p.slots <- struct{}{}:
	case <-p.lost:
		return nil, errLost
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	body, err := ahp.Marshal(params)
	if err != nil {
		<-p.slots
		return nil, err
	}
	waiter, err := p.conn.DispatchCall(ctx, method, json.RawMessage(traced(ctx, body)))
	if err != nil {
		<-p.slots
		return nil, errLost
	}
	var result json.RawMessage
	err = waiter.Wait(ctx, &result)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		p.countTimeout(ctx)
		go func() { // ends with the response or the connection; slots limits these goroutines to 32
			defer func() { <-p.slots }()
			err := waiter.Wait(context.Background(), nil)
			if !errors.Is(err, jsonrpc2.ErrClosed) {
				p.timeouts.Store(0) // slow, but alive
			}
			if late != nil {
				late(err)
			}
		}()
		return nil, err
	}
	<-p.slots
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return nil, errLost
	}
	p.timeouts.Store(0)
	return ahp.Value(result), failure(err)
}

// traced adds the span of ctx, if it has one, to the parameters of a request, which are an
// object with members, as _meta.traceparent.
func traced(ctx context.Context, params []byte) []byte {
	meta := trace.AddMeta(ctx, nil)
	if meta == nil {
		return params
	}
	return append(append([]byte(`{"_meta":`), meta...), append([]byte(","), params[1:]...)...)
}

// countTimeout counts a request that timed out, and probes a process that might hang. A
// request that its caller canceled does not count.
func (p *process) countTimeout(ctx context.Context) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && p.timeouts.Add(1) == maxTimeouts {
		go p.probe() // ends with the answer, the connection or the timeout
	}
}

// probe marks a process lost that answers nothing at all. A process whose handlers are
// slow still answers a request that it does not know, with an error.
func (p *process) probe() {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	waiter, err := p.conn.DispatchCall(ctx, "ping", nil)
	if err != nil {
		return // the connection has ended
	}
	if err = waiter.Wait(ctx, nil); errors.Is(err, context.DeadlineExceeded) {
		if p.timeouts.Load() >= maxTimeouts {
			p.markLost(errHung)
		}
		return
	}
	p.timeouts.Store(0)
}

// errLost is the result of a request whose process ended before it answered. Only the
// next request gets the reason: the process's output is complete by then.
var errLost = canvas.Errorf(canvas.CodeProviderUnavailable, "the extension's process ended")

// failure converts an extension's error into a canvas error, and keeps the
// extension's error code (canvas/PROTOCOL.md section 3).
func failure(err error) error {
	wire, ok := errors.AsType[*jsonrpc2.Error](err)
	if !ok {
		return err
	}
	var data struct {
		Code    string `json:"code,omitzero"`
		Message string `json:"message,omitzero"`
	}
	if wire.Data != nil && ahp.Unmarshal(*wire.Data, &data) == nil && data.Code != "" {
		if data.Message == "" {
			data.Message = wire.Message
		}
		return canvas.Errorf(data.Code, "%s", data.Message)
	}
	return canvas.Errorf(canvas.CodeHandlerError, "%s", wire.Message)
}
