package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

func benchmarkRead(b *testing.B, data []byte, contentType, etag string) {
	h := canvastest.New(b, engine.Options{})
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
		if _, err := h.Canvases.Content.CanvasReadResource(context.Background(), v.Sub, p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads content up to the encoded result: without a validator it is
// encoded each time, with one it is served from the cache.
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
