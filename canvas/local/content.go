package local

import (
	"bytes"
	"encoding/base64"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// content returns the content in an answer of canvasReadResource, or nil if the
// reader's validator is still valid.
func content(got canvas.CanvasReadResourceResult) (body []byte, kind string, err error) {
	if len(got.Contents) == 0 {
		return nil, "", nil
	}
	if len(got.Contents) > 1 {
		return nil, "", errors.New("more than one content")
	}
	c := got.Contents[0]
	switch {
	case c.Text != nil && c.Blob == nil:
		body = []byte(*c.Text)
	case c.Blob != nil && c.Text == nil:
		body, err = base64.StdEncoding.DecodeString(*c.Blob)
	default:
		err = errors.New("want exactly one of text and blob")
	}
	if kind = c.MimeType; kind == "" {
		kind = "application/octet-stream"
	}
	if c.Text != nil && !bytes.Contains([]byte(kind), []byte("charset")) {
		kind += "; charset=utf-8"
	}
	return body, kind, err
}
