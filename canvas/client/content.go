package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

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
	method := canvas.CanvasReadResource.Name
	l, err := c.liveLink(method)
	if err != nil {
		return Content{}, err
	}
	raw, err := callRaw(ctx, l, method, canvas.CanvasReadResourceParams{Channel: channel, URI: uri})
	if err != nil {
		return Content{}, err
	}
	content, err := decodeContent(raw)
	if err != nil {
		return Content{}, fmt.Errorf("call %s: the answer cannot be read: %w", method, err)
	}
	return content, nil
}

// decodeContent decodes the answer of a read. The resource is cut out of it first
// and decoded into place; the few bytes around it are decoded as always. As one
// value, a large resource would be read three times and copied twice.
func decodeContent(raw ahp.Value) (Content, error) {
	rest, payload := cutPayload(raw)
	var result canvas.CanvasReadResourceResult
	if err := ahp.Unmarshal(rest, &result); err != nil {
		return Content{}, err
	}
	if len(result.Contents) != 1 {
		return Content{}, fmt.Errorf("want one content, have %d", len(result.Contents))
	}
	r := result.Contents[0]
	content := Content{URI: r.URI, ContentType: r.MimeType}
	if raw := result.Meta[canvas.MetaETag]; raw.Kind() == '"' {
		_ = ahp.Unmarshal(raw, &content.ETag)
	}
	var err error
	switch {
	case (r.Text == nil) == (r.Blob == nil):
		err = fmt.Errorf("want exactly one of text and blob")
	case r.Text != nil:
		content.Data, err = jsontext.AppendUnquote(make([]byte, 0, len(payload)), payload)
	default:
		content.Data, err = base64.StdEncoding.AppendDecode(nil, payload[1:len(payload)-1])
	}
	return content, err
}

// cutPayload takes the string of the first text or blob out of a result, which is
// valid JSON, and leaves an empty one. The payload keeps its quotes.
func cutPayload(raw ahp.Value) (rest ahp.Value, payload []byte) {
	payload = []byte(`""`)
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return raw, payload
		}
		if d.StackDepth() != 3 || t.Kind() != '"' {
			continue
		}
		kind, n := d.StackIndex(3)
		if name := t.String(); kind != '{' || n%2 != 1 || name != "text" && name != "blob" {
			continue
		}
		start := int(d.InputOffset()) + bytes.IndexByte(raw[d.InputOffset():], '"')
		end := endOfString(raw, start)
		rest = append(append(append(make(ahp.Value, 0, len(raw)-end+start+2), raw[:start]...), `""`...), raw[end:]...)
		return rest, raw[start:end]
	}
}

// endOfString returns where the valid string that begins at start ends.
func endOfString(raw []byte, start int) int {
	for at := start + 1; ; {
		at += bytes.IndexByte(raw[at:], '"') + 1
		slashes := 0
		for raw[at-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
	}
}
