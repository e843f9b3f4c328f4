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
	URI         string // the final one: a redirect may have led here
	ContentType string
	ETag        string // the validator; "" where there is none
	Data        []byte
}

// ReadResource reads an ahp-canvas-content: URI over the channel of its canvas,
// which the client must follow (canvas.md section 6). Whatever is absent or
// forbidden is ahp.ErrNotFound. Who has a validator to send uses [Call] with
// canvas.CanvasReadResource.
func (c *Client) ReadResource(ctx context.Context, channel, uri string) (Content, error) {
	method := canvas.CanvasReadResource.Name
	l, err := c.liveLink(method)
	if err != nil {
		return Content{}, err
	}
	raw, payload, err := l.peer.CallPayload(ctx, method, canvas.CanvasReadResourceParams{Channel: channel, URI: uri}, payloadOfContent)
	switch {
	case err != nil && refused(err):
		return Content{}, fmt.Errorf("call %s: %w", method, err)
	case err != nil:
		return Content{}, err
	}
	content, err := decodeContent(raw, payload)
	if err != nil {
		return Content{}, fmt.Errorf("call %s: the answer cannot be read: %w", method, err)
	}
	return content, nil
}

// payloadOfContent is where the resource stands in the answer of a read. A large
// one comes decoded, apart from it.
var payloadOfContent = peer.Payload{Text: "/contents/0/text", Base64: "/contents/0/blob"}

// decodeContent decodes the answer of a read. payload is its resource where the
// answer has an empty string for it, else nil.
func decodeContent(raw ahp.Value, payload []byte) (Content, error) {
	var result canvas.CanvasReadResourceResult
	if err := ahp.Unmarshal(raw, &result); err != nil {
		return Content{}, err
	}
	if len(result.Contents) != 1 {
		return Content{}, fmt.Errorf("want one content, have %d", len(result.Contents))
	}
	r := result.Contents[0]
	content := Content{URI: r.URI, ContentType: r.MimeType, Data: payload}
	if raw := result.Meta[canvas.MetaETag]; raw.Kind() == '"' {
		_ = ahp.Unmarshal(raw, &content.ETag)
	}
	var err error
	switch {
	case (r.Text == nil) == (r.Blob == nil):
		err = errors.New("want exactly one of text and blob")
	case payload != nil:
	case r.Text != nil:
		content.Data = []byte(*r.Text)
	default:
		content.Data, err = decodeBase64(*r.Blob)
	}
	return content, err
}

// decodeBase64 is as strict with a small blob as package peer is with a large
// one: line ends are not part of it.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("a line end is no base64")
	}
	return base64.StdEncoding.DecodeString(s)
}
