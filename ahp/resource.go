package ahp

// ResourceReadParams reads one resource by URI (ahp-host.md section 6).
type ResourceReadParams struct {
	Channel  string `json:"channel,omitzero"`
	URI      string `json:"uri"`
	Encoding string `json:"encoding,omitzero"` // "utf-8" or "base64": a wish
}

// The encodings of a ResourceReadResult.
const (
	EncodingUTF8   = "utf-8"
	EncodingBase64 = "base64"
)

// ResourceReadResult is the whole resource.
type ResourceReadResult struct {
	Data        string `json:"data"`
	Encoding    string `json:"encoding"`
	ContentType string `json:"contentType,omitzero"`
}

// ResourceURIParams is the params of the resource methods that this host only
// refuses: nothing but the URI is read.
type ResourceURIParams struct {
	Channel string `json:"channel,omitzero"`
	URI     string `json:"uri"`
}

// ResourceResolveResult is what is known of a resource without reading it.
type ResourceResolveResult struct {
	URI         string `json:"uri"`
	Type        string `json:"type"` // "file"
	Size        *int64 `json:"size,omitzero"`
	ContentType string `json:"contentType,omitzero"`
	ETag        string `json:"etag,omitzero"`
}

// AuthenticateParams is the params of authenticate. This host has no protected
// resources, so every resource is unrecognised.
type AuthenticateParams struct {
	Channel  string `json:"channel,omitzero"`
	Resource string `json:"resource"`
	Token    string `json:"token"`
}

// The resource methods: symmetrical, either peer may send them.
var (
	ResourceRead    = NewConnectionMethod[ResourceReadParams, ResourceReadResult]("resourceRead", ClientToHost|HostToClient)
	ResourceRequest = NewConnectionMethod[ResourceURIParams, struct{}]("resourceRequest", ClientToHost|HostToClient)              // asks for access; this host only refuses
	ResourceResolve = NewConnectionMethod[ResourceURIParams, ResourceResolveResult]("resourceResolve", ClientToHost|HostToClient) // what is known of a resource
	ResourceList    = NewConnectionMethod[ResourceURIParams, struct{}]("resourceList", ClientToHost|HostToClient)                 // lists a folder; this host only refuses
	Authenticate    = NewConnectionMethod[AuthenticateParams, struct{}]("authenticate", ClientToHost)
)
