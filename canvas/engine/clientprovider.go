package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Caller reaches clients: it sends a request to a client's newest connection,
// once or not at all, and fails at once when that connection ends. The time in
// which the client must answer runs from sending: a busy client's requests wait
// for each other first (canvas.md section 8).
type Caller interface {
	Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error)
	// Capable reports whether the client declared a capability. It is called under
	// the log's lock and must not wait.
	Capable(clientID, capability string) bool
}

// clientProvider is a client that provides canvases: a Provider over a Caller
// (#297 section 5).
type clientProvider struct {
	caller   Caller
	clientID string
	session  string
	limit    int // of an answer, in bytes
	within   canvas.Timeouts
}

// Open asks the client with canvasOpen. An instance that is open stays the one that it
// is: where the answer does not count, closing what came with it would close that.
func (p *clientProvider) Open(ctx context.Context, req canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
	i, live := req.Current.(*clientInstance)
	if !live {
		i = &clientInstance{provider: p, canvasID: req.CanvasID, extensionID: req.ExtensionID, instanceID: req.InstanceID}
	}
	var answer canvas.CanvasOpenResult
	err := p.call(ctx, canvas.CanvasOpen.Name, canvas.CanvasOpenParams{
		Channel: p.session, CanvasID: req.CanvasID, ExtensionID: req.ExtensionID, InstanceID: req.InstanceID, Input: req.Input,
	}, p.within.Open, p.limit, &answer)
	if err != nil {
		return canvas.Opened{}, err
	}
	return canvas.Opened{Instance: i, URL: answer.URL, Title: answer.Title, Status: answer.Status}, nil
}

// call sends one request and reads its answer strictly. A provider's own code
// passes through; what is no answer of a provider gets one of the host's.
func (p *clientProvider) call(ctx context.Context, method string, params any, within time.Duration, limit int, answer any) error {
	raw, err := p.caller.Call(ctx, p.clientID, within, method, params)
	if err != nil {
		return clientError(method, err)
	}
	if len(raw) > limit {
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

// clientError turns what a call of a method ended with into an *Error, or
// ahp.ErrNotFound.
func clientError(method string, err error) error {
	wire, ok := errors.AsType[*ahp.Error](err)
	switch {
	case ok && wire.Code == ahp.CodeCanvasProvider:
		var data ahp.ProviderErrorData
		if ahp.Unmarshal(wire.Data, &data) == nil && data.Code != "" {
			return &canvas.Error{Code: data.Code, Message: data.Message}
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

// unread reports whether a client has no such resource to give: absent, forbidden
// and not served at all are one to a reader (canvas.md section 6).
func unread(c ahp.Code) bool {
	return c == ahp.CodeNotFound || c == ahp.CodePermissionDenied || c == ahp.CodeMethodNotFound
}

// clientInstance is an open canvas of a client.
type clientInstance struct {
	provider                          *clientProvider
	canvasID, extensionID, instanceID string
}

// Invoke asks the client with canvasInvokeAction.
func (i *clientInstance) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	var answer canvas.CanvasInvokeActionResult
	err := i.provider.call(ctx, canvas.CanvasInvokeAction.Name, canvas.CanvasInvokeActionParams{
		Channel: i.provider.session, InstanceID: i.instanceID, CanvasID: i.canvasID, ExtensionID: i.extensionID,
		ActionName: action, Input: input,
	}, i.provider.within.Invoke, i.provider.limit, &answer)
	return answer.Value, err
}

// Close tells the client with canvasClose.
func (i *clientInstance) Close(ctx context.Context) error {
	var answer struct{}
	return i.provider.call(ctx, canvas.CanvasClose.Name, canvas.CanvasCloseParams{
		Channel: i.provider.session, InstanceID: i.instanceID, CanvasID: i.canvasID, ExtensionID: i.extensionID,
	}, i.provider.within.Close, i.provider.limit, &answer)
}

// maxClientFrame bounds content that a client serves: its whole answer must fit a
// frame (canvas.md section 6).
const maxClientFrame = 4 << 20

// Read asks the client with resourceRead, so that another client can render what
// it serves.
func (i *clientInstance) Read(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	var answer ahp.ResourceReadResult
	uri := ahp.SchemeContent + ":/" + i.instanceID + req.Path.String()
	err := i.provider.call(ctx, ahp.ResourceRead.Name, ahp.ResourceReadParams{Channel: ahp.RootURI, URI: uri}, i.provider.within.Read, maxClientFrame, &answer)
	if err != nil {
		return canvas.Content{}, err
	}
	data := []byte(answer.Data)
	switch answer.Encoding {
	case ahp.EncodingUTF8:
	case ahp.EncodingBase64:
		if data, err = base64.StdEncoding.DecodeString(answer.Data); err != nil {
			return canvas.Content{}, canvas.Errorf(canvas.CodeHandlerError, "the provider's content is not the base64 that it says it is")
		}
	default:
		return canvas.Content{}, canvas.Errorf(canvas.CodeHandlerError, "the provider's content has an unknown encoding")
	}
	return canvas.Content{Data: data, ContentType: answer.ContentType}, nil
}
