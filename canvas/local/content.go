package local

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/gateway"
)

// read reads content of the canvas at the host.
func (p *panel) read(ctx context.Context, channel string, req canvas.ReadRequest) (canvas.Content, error) {
	params := canvas.CanvasReadResourceParams{Channel: channel, URI: req.Path.URI(p.instanceID)}
	if req.ETag != "" {
		params.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(req.ETag)}
	}
	got, err := client.Call(ctx, p.client, canvas.CanvasReadResource, params)
	switch {
	case err != nil && p.client.Err() != nil:
		return canvas.Content{}, gateway.ErrUnreachable
	case err != nil:
		return canvas.Content{}, err
	}
	c, err := content(got)
	if raw, ok := got.Meta[canvas.MetaETag]; ok && ahp.Unmarshal(raw, &c.ETag) != nil {
		c.ETag = ""
	}
	return c, err
}

// content returns the content in an answer of canvasReadResource. Without any, the reader's
// copy is still valid.
func content(got canvas.CanvasReadResourceResult) (content canvas.Content, err error) {
	if len(got.Contents) == 0 {
		return canvas.Content{NotModified: true}, nil
	}
	if len(got.Contents) > 1 {
		return content, errors.New("more than one content")
	}
	c := got.Contents[0]
	switch {
	case c.Text != nil && c.Blob == nil:
		content.Data = []byte(*c.Text)
	case c.Blob != nil && c.Text == nil:
		content.Data, err = base64.StdEncoding.DecodeString(*c.Blob)
	default:
		err = errors.New("want exactly one of text and blob")
	}
	if content.ContentType = c.MimeType; content.ContentType == "" {
		content.ContentType = "application/octet-stream"
	}
	if c.Text != nil && !bytes.Contains([]byte(content.ContentType), []byte("charset")) {
		content.ContentType += "; charset=utf-8"
	}
	return content, err
}
