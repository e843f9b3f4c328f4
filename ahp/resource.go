package ahp

// ResourceReadParams is the params of resourceRead (ahp/PROTOCOL.md section 6).
type ResourceReadParams struct {
	// Channel is the root channel or absent.
	Channel string `json:"channel,omitzero"`
	// URI is the resource to read.
	URI string `json:"uri"`
	// Encoding is the encoding that the sender prefers. The answer might have
	// another one.
	Encoding string `json:"encoding,omitzero"`
}

// The encodings of a ResourceReadResult.
const (
	EncodingUTF8   = "utf-8"
	EncodingBase64 = "base64"
)

// ResourceReadResult is the result of resourceRead: the whole resource.
type ResourceReadResult struct {
	// Data is the resource, encoded.
	Data string `json:"data"`
	// Encoding is "utf-8" or "base64".
	Encoding string `json:"encoding"`
	// ContentType is the media type.
	ContentType string `json:"contentType,omitzero"`
}

// ResourceURIParams is the params of resource methods of which this host reads
// only the URI.
type ResourceURIParams struct {
	// Channel is the root channel or absent.
	Channel string `json:"channel,omitzero"`
	// URI is the resource.
	URI string `json:"uri"`
}

// ResourceResolveResult is the result of resourceResolve.
type ResourceResolveResult struct {
	// URI is the resource.
	URI string `json:"uri"`
	// Type is "file".
	Type string `json:"type"`
	// Size is the number of bytes, if it is known without reading the resource.
	Size *int64 `json:"size,omitzero"`
	// ContentType is the media type.
	ContentType string `json:"contentType,omitzero"`
	// ETag changes when the resource changes.
	ETag string `json:"etag,omitzero"`
}

// AuthenticateParams is the params of authenticate. This host has no protected
// resources, so it recognizes no resource.
type AuthenticateParams struct {
	// Channel is the root channel or absent.
	Channel string `json:"channel,omitzero"`
	// Resource is the protected resource.
	Resource string `json:"resource"`
	// Token is the credential for it.
	Token string `json:"token"`
}

// The resource methods.
var (
	// ResourceRead returns a resource.
	ResourceRead = NewConnectionMethod[ResourceReadParams, ResourceReadResult]("resourceRead", ClientToHost|HostToClient).ChangesNothing()
	// ResourceRequest asks for access. This host always denies it.
	ResourceRequest = NewConnectionMethod[ResourceURIParams, struct{}]("resourceRequest", ClientToHost|HostToClient)
	// ResourceResolve describes a resource without returning it.
	ResourceResolve = NewConnectionMethod[ResourceURIParams, ResourceResolveResult]("resourceResolve", ClientToHost|HostToClient).ChangesNothing()
	// ResourceList lists a folder. This host has none.
	ResourceList = NewConnectionMethod[ResourceURIParams, struct{}]("resourceList", ClientToHost|HostToClient)
	// Authenticate sends a credential for a protected resource.
	Authenticate = NewConnectionMethod[AuthenticateParams, struct{}]("authenticate", ClientToHost)
)
