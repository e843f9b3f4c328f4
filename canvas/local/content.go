package local

import (
	"bytes"
	"encoding/base64"
	"errors"
	"regexp"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// content is what an answer of canvasReadResource holds; none where the reader's
// validator still holds.
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

// doctype is what stands before everything of a page: after it, ours comes first.
var doctype = regexp.MustCompile(`(?i)^(\xEF\xBB\xBF)?\s*(<!--[^>]*-->\s*)*<!doctype[^>]*>`)

// withScript puts the other end of canvas.js before everything of a page.
func withScript(page []byte) []byte {
	at := len(doctype.Find(page[:min(len(page), 1024)]))
	const script = `<script src="/.ahp/local.js"></script>`
	return append(append(append(make([]byte, 0, len(page)+len(script)), page[:at]...), script...), page[at:]...)
}
