package client

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
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
	result, err := Call(ctx, c, canvas.CanvasReadResource, canvas.CanvasReadResourceParams{Channel: channel, URI: uri})
	if err != nil {
		return Content{}, err
	}
	if len(result.Contents) != 1 {
		return Content{}, fmt.Errorf("call %s: want one content, have %d", canvas.CanvasReadResource.Name, len(result.Contents))
	}
	r := result.Contents[0]
	content := Content{URI: r.URI, ContentType: r.MimeType}
	if raw := result.Meta[canvas.MetaETag]; raw.Kind() == '"' {
		_ = ahp.Unmarshal(raw, &content.ETag)
	}
	switch {
	case r.Text != nil && r.Blob == nil:
		content.Data = []byte(*r.Text)
	case r.Blob != nil && r.Text == nil:
		content.Data, err = base64.StdEncoding.DecodeString(*r.Blob)
	default:
		err = fmt.Errorf("want exactly one of text and blob")
	}
	if err != nil {
		return Content{}, fmt.Errorf("call %s: the answer cannot be read: %w", canvas.CanvasReadResource.Name, err)
	}
	return content, nil
}
