package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

// MetaETag is the _meta member that carries a content validator, both ways
// (canvas.md section 6).
const MetaETag = "x-ahp-canvas/etag"

// CanvasReadResourceParams asks for one resource of an open canvas.
type CanvasReadResourceParams struct {
	Channel string               `json:"channel"` // the instance's ahp-canvas: channel
	URI     string               `json:"uri"`     // an ahp-canvas-content: URI of that instance
	Meta    map[string]ahp.Value `json:"_meta,omitzero"`
}

// ETag returns the validator that the reader has, "" if none.
func (p CanvasReadResourceParams) ETag() string {
	var etag string
	if raw := p.Meta[MetaETag]; raw.Kind() == '"' && ahp.Unmarshal(raw, &etag) == nil {
		return etag
	}
	return ""
}

// CanvasReadResourceResult has exactly one entry, or none where the reader's validator
// still holds.
type CanvasReadResourceResult struct {
	Contents []CanvasResourceContent `json:"contents"`
	Meta     map[string]ahp.Value    `json:"_meta,omitzero"`
}

// CanvasResourceContent is a resource, as text or base64: exactly one of the two.
type CanvasResourceContent struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitzero"`
	Text     *string `json:"text,omitzero"`
	Blob     *string `json:"blob,omitzero"`
}

// CanvasOpenParams asks a client provider to open a canvas (#297 section 5).
type CanvasOpenParams struct {
	Channel     string    `json:"channel"` // the session
	CanvasID    string    `json:"canvasId"`
	ExtensionID string    `json:"extensionId"`
	InstanceID  string    `json:"instanceId"`
	Input       ahp.Value `json:"input,omitzero"`
}

// CanvasOpenResult is what people see of the canvas.
type CanvasOpenResult struct {
	URL    string `json:"url,omitzero"`
	Title  string `json:"title,omitzero"`
	Status string `json:"status,omitzero"`
}

// CanvasInvokeActionParams asks a client provider to run an action.
type CanvasInvokeActionParams struct {
	Channel     string    `json:"channel"` // the session
	InstanceID  string    `json:"instanceId"`
	CanvasID    string    `json:"canvasId"`
	ExtensionID string    `json:"extensionId"`
	ActionName  string    `json:"actionName"`
	Input       ahp.Value `json:"input,omitzero"`
}

// CanvasInvokeActionResult is the action's value, absent where it has none.
type CanvasInvokeActionResult struct {
	Value ahp.Value `json:"value,omitzero"`
}

// CanvasCloseParams tells a client provider that a canvas is closed.
type CanvasCloseParams struct {
	Channel     string `json:"channel"` // the session
	InstanceID  string `json:"instanceId"`
	CanvasID    string `json:"canvasId"`
	ExtensionID string `json:"extensionId"`
}

// The methods of the canvas surface. The three that ask a provider go from the
// host to a client; a client that sends one is refused with -32009 (canvas.md
// section 4).
var (
	CanvasReadResource = ahp.NewMethod[CanvasReadResourceParams, CanvasReadResourceResult]("canvasReadResource", ahp.ClientToHost)

	CanvasOpen         = ahp.NewMethod[CanvasOpenParams, CanvasOpenResult]("canvasOpen", ahp.ClientToHost|ahp.HostToClient)
	CanvasInvokeAction = ahp.NewMethod[CanvasInvokeActionParams, CanvasInvokeActionResult]("canvasInvokeAction", ahp.ClientToHost|ahp.HostToClient)
	CanvasClose        = ahp.NewMethod[CanvasCloseParams, ahp.None]("canvasClose", ahp.ClientToHost|ahp.HostToClient)
)
