package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

// MetaETag is the _meta member that carries a content validator in requests and
// responses (canvas/PROTOCOL.md section 6).
const MetaETag = "x-ahp-canvas/etag"

// MetaChannel is the _meta member of canvasOpen and canvasInvokeAction that has the URI of
// the instance's channel. The provider may dispatch there without a subscription.
const MetaChannel = "x-ahp-canvas/channel"

// ChannelMeta returns a _meta that has [MetaChannel].
func ChannelMeta(uri string) ahp.Value { return ahp.MustMarshal(map[string]string{MetaChannel: uri}) }

// CanvasReadResourceParams asks for one resource of an open canvas.
type CanvasReadResourceParams struct {
	Channel string               `json:"channel"`        // the instance's ahp-canvas: channel
	URI     string               `json:"uri"`            // an ahp-canvas-content: URI of that instance
	Meta    map[string]ahp.Value `json:"_meta,omitzero"` // may contain MetaETag
}

// ETag returns the validator of the reader's copy, or "".
func (p CanvasReadResourceParams) ETag() string {
	var etag string
	if raw := p.Meta[MetaETag]; raw.Kind() == '"' && ahp.Unmarshal(raw, &etag) == nil {
		return etag
	}
	return ""
}

// CanvasReadResourceResult has exactly one entry in Contents, or none if the
// reader's copy is still valid.
type CanvasReadResourceResult struct {
	Contents []CanvasResourceContent `json:"contents"`       // at most one
	Meta     map[string]ahp.Value    `json:"_meta,omitzero"` // may contain MetaETag
}

// CanvasResourceContent is a resource. Exactly one of Text and Blob is set.
type CanvasResourceContent struct {
	URI      string  `json:"uri"`               // after redirects inside the instance
	MimeType string  `json:"mimeType,omitzero"` // "" if unknown
	Text     *string `json:"text,omitzero"`     // the content, if it is text in UTF-8
	Blob     *string `json:"blob,omitzero"`     // the content in base64, otherwise
}

// CanvasOpenParams asks a client provider to open a canvas (the Canvas proposal
// (#297), section 5).
type CanvasOpenParams struct {
	Channel     string    `json:"channel"`        // the session
	CanvasID    string    `json:"canvasId"`       // the declared canvas
	ExtensionID string    `json:"extensionId"`    // the client's extension
	InstanceID  string    `json:"instanceId"`     // names the instance in the session
	Input       ahp.Value `json:"input,omitzero"` // fits the declared schema
	Meta        ahp.Value `json:"_meta,omitzero"` // has the instance's channel under [MetaChannel]
}

// CanvasOpenResult is what people see of the canvas.
type CanvasOpenResult struct {
	URL    string `json:"url,omitzero"`    // of the content; "" shows none
	Title  string `json:"title,omitzero"`  // "" sets no title
	Status string `json:"status,omitzero"` // "" sets no status
}

// CanvasInvokeActionParams asks a client provider to run an action.
type CanvasInvokeActionParams struct {
	Channel     string    `json:"channel"`        // the session
	InstanceID  string    `json:"instanceId"`     // the open instance
	CanvasID    string    `json:"canvasId"`       // its canvas
	ExtensionID string    `json:"extensionId"`    // the client's extension
	ActionName  string    `json:"actionName"`     // a declared action
	Input       ahp.Value `json:"input,omitzero"` // fits the action's schema
	Meta        ahp.Value `json:"_meta,omitzero"` // has the instance's channel under [MetaChannel]
}

// CanvasInvokeActionResult is the result of an action.
type CanvasInvokeActionResult struct {
	Value ahp.Value `json:"value,omitzero"` // absent if the action returned no value
}

// CanvasCloseParams notifies a client provider that a canvas was closed.
type CanvasCloseParams struct {
	Channel     string `json:"channel"`     // the session
	InstanceID  string `json:"instanceId"`  // the closed instance
	CanvasID    string `json:"canvasId"`    // its canvas
	ExtensionID string `json:"extensionId"` // the client's extension
}

// The methods of the canvas surface. CanvasOpen, CanvasInvokeAction and CanvasClose
// go from the host to a client that provides canvases; the host answers a client that
// sends one with error -32009 (canvas/PROTOCOL.md section 4).
var (
	CanvasReadResource = ahp.NewMethod[CanvasReadResourceParams, CanvasReadResourceResult]("canvasReadResource", ahp.ClientToHost)

	CanvasOpen         = ahp.NewMethod[CanvasOpenParams, CanvasOpenResult]("canvasOpen", ahp.ClientToHost|ahp.HostToClient)
	CanvasInvokeAction = ahp.NewMethod[CanvasInvokeActionParams, CanvasInvokeActionResult]("canvasInvokeAction", ahp.ClientToHost|ahp.HostToClient)
	CanvasClose        = ahp.NewMethod[CanvasCloseParams, ahp.None]("canvasClose", ahp.ClientToHost|ahp.HostToClient)
)
