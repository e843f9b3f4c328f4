package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Caller calls clients.
type Caller interface {
	// Call sends a request to a client's newest connection, once or not at all, and
	// fails at once when that connection ends. The time in which the client must answer
	// runs from sending, because requests to a busy client wait for each other first
	// (canvas/PROTOCOL.md section 8).
	Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error)
	// Capable reports whether the client's current connection declared a capability. It
	// is called under the log's lock and must not wait.
	Capable(clientID, capability string) bool
	// Connection returns the connection on which Call would send, or nil. It is called
	// like Capable.
	Connection(clientID string) *channels.Subscriber
}

// clientProvider is a client that provides canvases: a Provider over a Caller (the Canvas
// proposal (#297), section 5).
type clientProvider struct {
	caller   Caller
	clientID string
	session  string
	limit    int // of an answer, in bytes
	within   canvas.Timeouts
}

// Open calls canvasOpen. An open instance stays the same value: if the answer does not
// count, the engine must not close the instance that came with it.
func (p *clientProvider) Open(ctx context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
	i, live := req.Current.(*clientInstance)
	if !live {
		i = &clientInstance{provider: p, canvasID: req.CanvasID, extensionID: req.ExtensionID, instanceID: req.InstanceID, channel: req.Channel}
	}
	var answer canvas.CanvasOpenResult
	err := p.call(ctx, canvas.CanvasOpen.Name, canvas.CanvasOpenParams{
		Channel: p.session, CanvasID: req.CanvasID, ExtensionID: req.ExtensionID, InstanceID: req.InstanceID, Input: req.Input,
		Meta: trace.AddMeta(ctx, canvas.ChannelMeta(req.Channel)),
	}, p.within.Open, p.limit, &answer)
	if err != nil {
		return canvas.Opened{}, err
	}
	return canvas.Opened{Instance: i, URL: answer.URL, Title: answer.Title, Status: answer.Status}, nil
}

// call sends one request and decodes its answer strictly. A provider's own code passes
// through; every other failure gets a code of the host's.
func (p *clientProvider) call(ctx context.Context, method string, params any, within time.Duration, limit int, answer any) error {
	raw, err := p.caller.Call(ctx, p.clientID, within, method, params)
	if err != nil {
		return clientError(method, err)
	}
	if len(raw) > limit {
		if method == canvas.CanvasInvokeAction.Name {
			return canvas.Errorf(canvas.CodeLimitExceeded, "the action ran; its value was dropped: the answer has %d bytes, at most %d are allowed", len(raw), limit)
		}
		return canvas.Errorf(canvas.CodeHandlerError, "the provider answered %s with %d bytes, at most %d are allowed", method, len(raw), limit)
	}
	if raw.Kind() == 'n' {
		raw = ahp.Value("{}")
	}
	if err := ahp.Unmarshal(raw, answer); err != nil {
		return canvas.Errorf(canvas.CodeHandlerError, "the provider's answer to %s cannot be read: %v", method, err)
	}
	return nil
}

// clientError turns the error of a call into a *canvas.Error, or ahp.ErrNotFound.
func clientError(method string, err error) error {
	wire, ok := errors.AsType[*ahp.Error](err)
	switch {
	case ok && wire.Code == ahp.CodeCanvasProvider:
		var data ahp.ProviderErrorData
		if ahp.Unmarshal(wire.Data, &data) == nil && data.Code != "" {
			return &canvas.Error{Code: data.Code, Message: data.Message, Details: data.Details}
		}
		return canvas.Errorf(canvas.CodeHandlerError, "%s", wire.Message)
	case ok && method == ahp.ResourceRead.Name && unread(wire.Code):
		return ahp.ErrNotFound
	case ok:
		return canvas.Errorf(canvas.CodeHandlerError, "the provider refused: %s", wire.Message)
	case errors.Is(err, context.DeadlineExceeded):
		return errTimeout
	case errors.Is(err, context.Canceled):
		return err
	}
	return errUnavailable
}

// unread reports whether a client serves no such resource. Absent, forbidden and not
// served at all are the same to a reader (canvas/PROTOCOL.md section 6).
func unread(c ahp.Code) bool {
	return c == ahp.CodeNotFound || c == ahp.CodePermissionDenied || c == ahp.CodeMethodNotFound
}

// clientInstance is an open canvas of a client.
type clientInstance struct {
	provider                          *clientProvider
	canvasID, extensionID, instanceID string
	channel                           string
}

// Invoke calls canvasInvokeAction.
func (i *clientInstance) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	var answer canvas.CanvasInvokeActionResult
	err := i.provider.call(ctx, canvas.CanvasInvokeAction.Name, canvas.CanvasInvokeActionParams{
		Channel: i.provider.session, InstanceID: i.instanceID, CanvasID: i.canvasID, ExtensionID: i.extensionID,
		ActionName: action, Input: input, Meta: trace.AddMeta(ctx, canvas.ChannelMeta(i.channel)),
	}, i.provider.within.Invoke, i.provider.limit, &answer)
	return answer.Value, err
}

// Close calls canvasClose.
func (i *clientInstance) Close(ctx context.Context) error {
	var answer struct{}
	return i.provider.call(ctx, canvas.CanvasClose.Name, canvas.CanvasCloseParams{
		Channel: i.provider.session, InstanceID: i.instanceID, CanvasID: i.canvasID, ExtensionID: i.extensionID,
	}, i.provider.within.Close, i.provider.limit, &answer)
}

// maxClientFrame bounds content that a client serves, in bytes: its whole answer must fit
// a frame (canvas/PROTOCOL.md section 6).
const maxClientFrame = 4 << 20

// Read calls resourceRead, so that another client can render what this one serves.
func (i *clientInstance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	var answer ahp.ResourceReadResult
	uri := req.Path.URI(i.instanceID)
	err := i.provider.call(ctx, ahp.ResourceRead.Name, ahp.ResourceReadParams{Channel: ahp.RootURI, URI: uri}, i.provider.within.Read, maxClientFrame, &answer)
	if err != nil {
		return canvas.Content{}, err
	}
	data := []byte(answer.Data)
	switch answer.Encoding {
	case ahp.EncodingUTF8:
	case ahp.EncodingBase64:
		if data, err = base64.StdEncoding.DecodeString(answer.Data); err != nil {
			return canvas.Content{}, canvas.Errorf(canvas.CodeHandlerError, "the provider's content is marked as base64 but is not")
		}
	default:
		return canvas.Content{}, canvas.Errorf(canvas.CodeHandlerError, "the provider's content has an unknown encoding")
	}
	return canvas.Content{Data: data, ContentType: answer.ContentType}, nil
}
