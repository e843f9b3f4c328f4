package contentjson_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/engine/contentjson"
)

// FuzzEncode: what is encoded is JSON and holds exactly the bytes.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("plain\n\"\\\x00\x1f\u2028</script>"), "text/html")
	f.Add([]byte{0xff, 0}, "image/png")
	f.Add([]byte{0xff}, strings.Repeat("\x8e", 5000))
	f.Add(make([]byte, 1<<20), strings.Repeat("\x17", 5000))
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		raw := (&contentjson.Resource{
			URI: "ahp-canvas-content:/i/x", ContentType: contentType, ETag: "etag", Data: data, Text: contentjson.IsText(contentType, data),
		}).Read()
		if room := cap(raw) - len(raw); room < 0 || room > 256+6*len(contentType) {
			t.Fatalf("%d bytes were written into a buffer of %d", len(raw), cap(raw))
		}
		var r struct {
			Contents []struct {
				URI, MimeType string
				Text, Blob    *string
			}
		}
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Contents) != 1 {
			t.Fatalf("%q: %v", raw, err)
		}
		c := r.Contents[0]
		switch {
		case c.Text != nil && c.Blob == nil:
			if *c.Text != string(data) {
				t.Fatalf("%q became %q", data, *c.Text)
			}
		case c.Blob != nil && c.Text == nil:
			if got, err := base64.StdEncoding.DecodeString(*c.Blob); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%q became %q", data, got)
			}
		default:
			t.Fatalf("%s has not exactly one of text and blob", raw)
		}
	})
}
