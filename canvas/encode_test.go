package canvas_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// FuzzEncode: what is encoded is JSON and holds exactly the bytes.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("plain\n\"\\\x00\x1f\u2028</script>"), "text/html")
	f.Add([]byte{0xff, 0}, "image/png")
	f.Add([]byte{0xff}, strings.Repeat("\x8e", 5000))
	f.Add(make([]byte, 1<<20), strings.Repeat("\x17", 5000))
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		raw := canvas.EncodeRead("ahp-canvas-content:/i/x", contentType, "etag", data)
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

func benchmarkRead(b *testing.B, data []byte, contentType, etag string) {
	h := canvastest.New(b, canvas.Options{})
	c := canvas.Content{Data: data, ContentType: contentType, ETag: etag}
	f := &fake{read: files{"/x": c}.read}
	h.Register(canvas.Extension{ID: "ext"}, f, fakeDeclaration)
	o := h.Open("fake", "one", nil)
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	p := canvas.CanvasReadResourceParams{Channel: o.Channel, URI: "ahp-canvas-content:/one/x"}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Canvases.CanvasReadResource(context.Background(), v.Sub, p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is a content read up to the encoded result: encoded anew where
// there is no validator, from the cache where there is one.
func BenchmarkRead(b *testing.B) {
	text := bytes.Repeat([]byte("<p class=\"x\">Some text of a page, with a quote here and there.</p>\n"), 16<<10)[:1<<20]
	blob := bytes.Repeat([]byte{0, 1, 2, 253, 254, 255}, 1<<20/6)
	for _, size := range []int{100 << 10, 1<<20 - 8} {
		for name, kind := range map[string]struct {
			data        []byte
			contentType string
		}{"text": {text[:size], "text/html"}, "blob": {blob[:size], "image/png"}} {
			b.Run(fmt.Sprintf("%s/%dKiB/first", name, size>>10), func(b *testing.B) { benchmarkRead(b, kind.data, kind.contentType, "") })
			b.Run(fmt.Sprintf("%s/%dKiB/cached", name, size>>10), func(b *testing.B) { benchmarkRead(b, kind.data, kind.contentType, "e") })
		}
	}
}
