package canvas

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// EncodeRead is the encoder of canvasReadResource, for its fuzz test.
func EncodeRead(uri, contentType, etag string, data []byte) ahp.Value {
	r := &resource{uri: uri, contentType: contentType, etag: etag, data: data, text: textual(contentType, data)}
	return r.encodeRead()
}

// CheckURL is the url policy, for its table.
func CheckURL(instanceID, url string, client bool, allowed ...string) error {
	source := session.CanvasProviderSource{Kind: session.SourceServer}
	if client {
		source.Kind = session.SourceClient
	}
	p := urlPolicy{allowed: allowed}
	return p.check(instanceID, url, source)
}

// Depth counts JSON levels.
func Depth(v string) int { return depth(ahp.Value(v)) }
