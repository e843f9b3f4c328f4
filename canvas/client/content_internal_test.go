package client

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// decodeWhole decodes a result of canvasReadResource without cutting the resource out.
func decodeWhole(raw ahp.Value) (data []byte, ok bool) {
	var result canvas.CanvasReadResourceResult
	if ahp.Unmarshal(raw, &result) != nil || len(result.Contents) != 1 {
		return nil, false
	}
	switch r := result.Contents[0]; {
	case (r.Text == nil) == (r.Blob == nil):
		return nil, false
	case r.Text != nil:
		return []byte(*r.Text), true
	default:
		data, err := base64.StdEncoding.DecodeString(*r.Blob)
		return data, err == nil && !strings.ContainsAny(*r.Blob, "\r\n")
	}
}

// FuzzDecodeContent checks that cutting the resource out first changes nothing.
func FuzzDecodeContent(f *testing.F) {
	for _, seed := range []string{
		`{"contents":[{"uri":"u","text":"a\"b\\\\"}]}`, `{"contents":[{"uri":"u","mimeType":"text","blob":"YQ=="}]}`,
		`{"contents":[{"uri":"text","text":"","blob":""}]}`, `{"contents":[]}`, `{"contents":[{"uri":"u"}],"text":"no"}`,
		`{"contents":[{"uri":"u","x":{"text":"deeper"},"text":"\u00e4\n"}]}`, `{"contents":[{"text" : "spaced" , "uri":"u"}],"_meta":{"a":["text","b"]}}`,
		`{"contents":[{"uri":"u","text":"one"},{"uri":"v","text":"two"}]}`, `{"contents":[{"uri":"u","blob":"not base64"}]}`, `{"contents":[["text","x"]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !ahp.Value(raw).IsValid() {
			return // the peer hands on nothing else
		}
		want, ok := decodeWhole(raw)
		got, err := decodeContent(raw, nil)
		if ok != (err == nil) || ok && !bytes.Equal(want, got.Data) {
			t.Errorf("%s: %q %v, want %q %v", raw, got.Data, err, want, ok)
		}
	})
}
