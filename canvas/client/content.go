package client

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Content is one resource of a canvas.
type Content struct {
	// URI is the resource's URI after redirects.
	URI string
	// ContentType is its media type.
	ContentType string
	// ETag is its validator; "" if it has none.
	ETag string
	// Data is its content.
	Data []byte
}

// ReadResource reads an ahp-canvas-content: URI over the channel of its canvas,
// which the client must follow (canvas/PROTOCOL.md section 6). If the resource is
// absent or forbidden, the error is ahp.ErrNotFound. To send a validator, use [Call]
// with canvas.CanvasReadResource.
func (c *Client) ReadResource(ctx context.Context, channel, uri string) (Content, error) {
	method := canvas.CanvasReadResource.Name
	var raw ahp.Value
	var payload []byte
	err := c.onLink(ctx, canvas.CanvasReadResource.MethodInfo, func(ctx context.Context, l *link) (err error) {
		raw, payload, err = l.peer.CallPayload(ctx, method, canvas.CanvasReadResourceParams{Channel: channel, URI: uri}, payloadOfContent)
		return named(method, err)
	})
	if err != nil {
		return Content{}, err
	}
	content, err := decodeContent(raw, payload)
	if err != nil {
		return Content{}, fmt.Errorf("call %s: the result is invalid: %w", method, err)
	}
	return content, nil
}

// payloadOfContent locates the resource in the result of a read. The peer decodes a
// large one as it arrives.
var payloadOfContent = peer.Payload{Text: "/contents/0/text", Base64: "/contents/0/blob"}

// decodeContent decodes the result of a read. payload is the resource if the peer
// has decoded it; the result then has an empty string in its place.
func decodeContent(raw ahp.Value, payload []byte) (Content, error) {
	var result canvas.CanvasReadResourceResult
	if err := ahp.Unmarshal(raw, &result); err != nil {
		return Content{}, err
	}
	if len(result.Contents) != 1 {
		return Content{}, fmt.Errorf("it has %d contents, want one", len(result.Contents))
	}
	r := result.Contents[0]
	content := Content{URI: r.URI, ContentType: r.MimeType, Data: payload}
	if raw := result.Meta[canvas.MetaETag]; raw.Kind() == '"' {
		_ = ahp.Unmarshal(raw, &content.ETag)
	}
	var err error
	switch {
	case (r.Text == nil) == (r.Blob == nil):
		err = errors.New("it must have either text or blob")
	case payload != nil:
	case r.Text != nil:
		content.Data = []byte(*r.Text)
	default:
		content.Data, err = decodeBase64(*r.Blob)
	}
	return content, err
}

// decodeBase64 is as strict as package peer, which decodes large blobs: line ends
// are invalid.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("the blob contains a line end, which is not base64")
	}
	return base64.StdEncoding.DecodeString(s)
}
