package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine/contentjson"
)

// files is a reader of content by path. It counts the reads that returned content.
type files map[string]canvas.Content

func (f files) read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	c, ok := f[req.Path.String()]
	if !ok {
		return canvas.Content{}, fs.ErrNotExist
	}
	if c.ETag != "" && c.ETag == req.ETag {
		return canvas.Content{NotModified: true}, nil
	}
	return c, nil
}

func readResource(h *canvastest.Host, v *canvastest.View, channel, uri, etag string) (string, error) {
	p := canvas.CanvasReadResourceParams{Channel: channel, URI: uri}
	if etag != "" {
		p.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(etag)}
	}
	raw, err := h.Canvases.Content.CanvasReadResource(context.Background(), v.Sub, p)
	if err == nil && !raw.IsValid() {
		return "", fmt.Errorf("not JSON: %s", raw)
	}
	return string(raw), err
}

func newContent(t *testing.T, content files) (h *canvastest.Host, f *fake, reg canvas.Registration, v *canvastest.View, channel string) {
	t.Helper()
	h, f, reg = newFake(t, engine.Options{})
	f.read = content.read
	o, err := open(h, "one", "")
	ok(t, err)
	v = h.Connect("v")
	v.Subscribe(o.Channel)
	return h, f, reg, v, o.Channel
}

func TestCanvasReadResource(t *testing.T) {
	h, _, _, v, ch := newContent(t, files{
		"/":          {Data: []byte("<p>\"hi\"\n\x01é</p>"), ContentType: "text/html"},
		"/a.json":    {Data: []byte(`{"a":1}`), ETag: `"v1"`},
		"/bad.txt":   {Data: []byte("\xff\xfe")},
		"/p.png":     {Data: []byte{0, 1, 2}},
		"/l1.txt":    {Data: []byte("x"), ContentType: "text/plain; charset=latin1"},
		"/moved?q=1": {Data: []byte("x"), ContentType: "text/plain", Path: canvas.ContentPath{Segments: []string{"there"}}},
	})
	for path, want := range map[string]string{
		"/":          `{"contents":[{"uri":"ahp-canvas-content:/one/","mimeType":"text/html","text":"<p>\"hi\"\n\u0001é</p>"}]}`,
		"":           `{"contents":[{"uri":"ahp-canvas-content:/one/","mimeType":"text/html","text":"<p>\"hi\"\n\u0001é</p>"}]}`,
		"/a.json":    `{"contents":[{"uri":"ahp-canvas-content:/one/a.json","mimeType":"application/json","text":"{\"a\":1}"}],"_meta":{"x-ahp-canvas/etag":"\"v1\""}}`,
		"/bad.txt":   `{"contents":[{"uri":"ahp-canvas-content:/one/bad.txt","mimeType":"text/plain","blob":"//4="}]}`,
		"/p.png":     `{"contents":[{"uri":"ahp-canvas-content:/one/p.png","mimeType":"image/png","blob":"AAEC"}]}`,
		"/l1.txt":    `{"contents":[{"uri":"ahp-canvas-content:/one/l1.txt","mimeType":"text/plain; charset=latin1","blob":"eA=="}]}`,
		"/moved?q=1": `{"contents":[{"uri":"ahp-canvas-content:/one/there","mimeType":"text/plain","text":"x"}]}`,
	} {
		got, err := readResource(h, v, ch, "ahp-canvas-content:/one"+path, "")
		ok(t, err)
		equal(t, want, got)
	}
}

// TestAbsentClosedForeignForbidden: these four kinds of content get the same error.
// TestFiles: a file of the host is content of every instance; its provider is not asked
// for it. A folder and a query of the same name are the provider's and the file's.
func TestFiles(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{Files: map[string]canvas.Content{
		".ahp/canvas.js": {Data: []byte("export {}"), ContentType: "text/javascript", ETag: "1"},
	}})
	f.read = files{"/.ahp/canvas.js": {Data: []byte("the provider's")}, "/.ahp/canvas.js/": {Data: []byte("a folder")}}.read
	o, err := open(h, "one", "")
	ok(t, err)
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	const uri = "ahp-canvas-content:/one/.ahp/canvas.js"
	for _, tc := range []struct{ uri, etag, want string }{
		{uri, "", `{"contents":[{"uri":"` + uri + `","mimeType":"text/javascript","text":"export {}"}],"_meta":{"x-ahp-canvas/etag":"1"}}`},
		{uri, "1", `{"contents":[],"_meta":{"x-ahp-canvas/etag":"1"}}`},
		{uri, "0", `{"contents":[{"uri":"` + uri + `","mimeType":"text/javascript","text":"export {}"}],"_meta":{"x-ahp-canvas/etag":"1"}}`},
		{uri + "?v=2", "", `{"contents":[{"uri":"` + uri + `?v=2","mimeType":"text/javascript","text":"export {}"}],"_meta":{"x-ahp-canvas/etag":"1"}}`},
		{uri + "/", "", `{"contents":[{"uri":"` + uri + `/","mimeType":"text/javascript","text":"a folder"}]}`},
	} {
		if got, err := readResource(h, v, o.Channel, tc.uri, tc.etag); err != nil || got != tc.want {
			t.Errorf("%s with the validator %q:\n%s, %v\nwant\n%s", tc.uri, tc.etag, got, err, tc.want)
		}
	}
}

func TestAbsentClosedForeignForbidden(t *testing.T) {
	h, f, _, v, ch := newContent(t, files{"/x": {Data: []byte("x")}})
	two, err := open(h, "two", "")
	ok(t, err)
	stranger := h.Connect("stranger")
	closed, err := open(h, "closed", "")
	ok(t, err)
	v.Subscribe(closed.Channel)
	ok(t, closeCanvas(h, "closed"))
	for name, c := range map[string]struct {
		view         *canvastest.View
		channel, uri string
	}{
		"absent":          {v, ch, "ahp-canvas-content:/one/none"},
		"climbing":        {v, ch, "ahp-canvas-content:/one/../x"},
		"not subscribed":  {stranger, ch, "ahp-canvas-content:/one/x"},
		"of another":      {v, ch, "ahp-canvas-content:/two/x"},
		"other channel":   {v, two.Channel, "ahp-canvas-content:/two/x"},
		"closed":          {v, closed.Channel, "ahp-canvas-content:/closed/x"},
		"no channel":      {v, "ahp-canvas:/none", "ahp-canvas-content:/one/x"},
		"the session":     {v, canvastest.Session, "ahp-canvas-content:/one/x"},
		"other scheme":    {v, ch, "file:///etc/passwd"},
		"without content": {v, ch, ""},
	} {
		if _, err := readResource(h, c.view, c.channel, c.uri, ""); !errors.Is(err, ahp.ErrNotFound) || err.Error() != ahp.ErrNotFound.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.read = func(context.Context, canvas.ReadRequest) (canvas.Content, error) {
		return canvas.Content{}, fs.ErrPermission
	}
	if _, err := readResource(h, v, ch, "ahp-canvas-content:/one/x", ""); !errors.Is(err, ahp.ErrNotFound) {
		t.Errorf("forbidden: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg, v, ch := newContent(t, files{"/x": {Data: []byte("x")}})
		reg.SetReachable(false)
		_, err := readResource(h, v, ch, "ahp-canvas-content:/one/x", "")
		ok(t, err) // reads that need no provider succeed
		code := func() string {
			_, err := readResource(h, v, ch, "ahp-canvas-content:/one/x", "")
			e := ahp.ToError(err)
			var data ahp.ProviderErrorData
			_ = ahp.Unmarshal(e.Data, &data)
			return fmt.Sprint(e.Code, " ", data.Code)
		}
		for want, read := range map[string]func(ctx context.Context) (canvas.Content, error){
			"-32012 canvas_provider_unavailable": func(context.Context) (canvas.Content, error) {
				return canvas.Content{}, canvas.Errorf(canvas.CodeProviderUnavailable, "gone")
			},
			"-32012 canvas_handler_error": func(context.Context) (canvas.Content, error) { return canvas.Content{}, errors.New("secret path") },
			"-32012 canvas_limit_exceeded": func(context.Context) (canvas.Content, error) {
				return canvas.Content{Data: make([]byte, 16<<20+1)}, nil
			},
			"-32012 canvas_timeout": func(ctx context.Context) (canvas.Content, error) {
				time.Sleep(31 * time.Second)
				return canvas.Content{}, ctx.Err()
			},
		} {
			f.read = func(ctx context.Context, _ canvas.ReadRequest) (canvas.Content, error) { return read(ctx) }
			equal(t, want, code())
		}
	})
}

func TestReadWithAValidator(t *testing.T) {
	content := files{"/x.txt": {Data: []byte("one"), ETag: "1"}, "/free.txt": {Data: []byte("f")}}
	h, f, _, v, ch := newContent(t, content)
	uri := "ahp-canvas-content:/one/x.txt"
	full := func(text, etag string) string {
		return `{"contents":[{"uri":"` + uri + `","mimeType":"text/plain","text":"` + text + `"}],"_meta":{"x-ahp-canvas/etag":"` + etag + `"}}`
	}
	unchanged := `{"contents":[],"_meta":{"x-ahp-canvas/etag":"1"}}`
	read := func(etag, want string) {
		t.Helper()
		got, err := readResource(h, v, ch, uri, etag)
		ok(t, err)
		equal(t, want, got)
	}
	read("1", unchanged) // nothing is cached yet
	read("0", full("one", "1"))
	read("", full("one", "1"))
	given := 0
	f.read = func(ctx context.Context, req canvas.ReadRequest) (canvas.Content, error) {
		c, err := content.read(ctx, req)
		if !c.NotModified {
			given++
		}
		return c, err
	}
	read("", full("one", "1"))
	read("0", full("one", "1"))
	read("1", unchanged)
	equal(t, 0, given) // served from the cache
	content["/x.txt"] = canvas.Content{Data: []byte("two"), ETag: "2"}
	read("2", `{"contents":[],"_meta":{"x-ahp-canvas/etag":"2"}}`) // version 1 is cached
	read("1", full("two", "2"))
	read("", full("two", "2"))
	equal(t, 2, given)
	_, err := readResource(h, v, ch, "ahp-canvas-content:/one/free.txt", "1")
	ok(t, err)
}

func TestResourceRead(t *testing.T) {
	h, _, _, v, _ := newContent(t, files{"/x.txt": {Data: []byte("é\n"), ETag: "1"}, "/p.png": {Data: []byte{0}}})
	for _, c := range []struct{ uri, encoding, want string }{
		{"/x.txt", "", `{"data":"é\n","encoding":"utf-8","contentType":"text/plain"}`},
		{"/x.txt", "utf-8", `{"data":"é\n","encoding":"utf-8","contentType":"text/plain"}`},
		{"/x.txt", "base64", `{"data":"w6kK","encoding":"base64","contentType":"text/plain"}`},
		{"/p.png", "utf-8", `{"data":"AA==","encoding":"base64","contentType":"image/png"}`},
	} {
		for range 2 { // the second from the cache
			got, err := h.Canvases.Content.ResourceRead(t.Context(), v.Sub, ahp.ResourceReadParams{URI: "ahp-canvas-content:/one" + c.uri, Encoding: c.encoding})
			ok(t, err)
			equal(t, c.want, string(got))
		}
	}
	r, err := h.Canvases.Content.ResourceResolve(t.Context(), v.Sub, ahp.ResourceURIParams{URI: "ahp-canvas-content:/one/x.txt"})
	ok(t, err)
	equal(t, `{"uri":"ahp-canvas-content:/one/x.txt","type":"file","size":3,"contentType":"text/plain","etag":"1"}`, string(ahp.MustMarshal(r)))

	refused := func(uri string) [2]ahp.Code {
		_, read := h.Canvases.Content.ResourceRead(t.Context(), v.Sub, ahp.ResourceReadParams{URI: uri})
		_, resolved := h.Canvases.Content.ResourceResolve(t.Context(), v.Sub, ahp.ResourceURIParams{URI: uri})
		return [2]ahp.Code{ahp.ToError(read).Code, ahp.ToError(resolved).Code}
	}
	absent := [2]ahp.Code{ahp.CodeNotFound, ahp.CodeNotFound}
	foreign := [2]ahp.Code{ahp.CodePermissionDenied, ahp.CodeNotFound}
	equal(t, foreign, refused("file:///etc/passwd"))
	equal(t, foreign, refused("no uri"))
	equal(t, absent, refused("ahp-canvas-content:/one/none"))
	equal(t, absent, refused("ahp-canvas-content:/other/x.txt"))
	// The same instance id in another session makes the URI ambiguous.
	ok(t, h.Sessions.Ensure("ahp-session:/two", ""))
	o, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: "ahp-session:/two", CanvasID: "fake", InstanceID: "one"})
	ok(t, err)
	v.Subscribe(o.Channel)
	equal(t, absent, refused("ahp-canvas-content:/one/x.txt"))
}

// TestCacheIsBounded: reads stay correct if the content exceeds the cache.
func TestCacheIsBounded(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{CacheBytes: 8 << 10}})
	f.read = func(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
		return canvas.Content{Data: bytes.Repeat([]byte("x"), 3000), ETag: req.Path.String(), ContentType: "text/plain"}, nil
	}
	o, err := open(h, "one", "")
	ok(t, err)
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	for n := range 20 {
		uri := fmt.Sprintf("ahp-canvas-content:/one/%d", n%5)
		got, err := readResource(h, v, o.Channel, uri, "")
		ok(t, err)
		if !strings.Contains(got, `"uri":"`+uri+`"`) || len(got) < 3000 {
			t.Fatalf("read %s as %.80s", uri, got)
		}
		if n := engine.CacheBytes(h.Canvases); n > 8<<10 {
			t.Fatalf("the cache holds %d bytes", n)
		}
	}
}

// TestLargeContent: content that is encoded in pieces equals content that is encoded
// at once, even if a piece ends inside a character.
func TestLargeContent(t *testing.T) {
	text := []byte(strings.Repeat("x", 48<<10-1) + strings.Repeat("ä\"\n€", 200_000))
	blob := make([]byte, 1<<20+1)
	for i := range blob {
		blob[i] = byte(i * 7)
	}
	for name, data := range map[string][]byte{"a.txt": text, "a.bin": blob} {
		h, f, _ := newFake(t, engine.Options{})
		f.read = func(context.Context, canvas.ReadRequest) (canvas.Content, error) {
			return canvas.Content{Data: data, ETag: "1"}, nil
		}
		o, err := open(h, "one", "")
		ok(t, err)
		v := h.Connect("v")
		v.Subscribe(o.Channel)
		uri := canvas.ContentURL("one", "/"+name)
		got, write, done, err := h.Canvases.Content.StreamResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: o.Channel, URI: uri})
		ok(t, err)
		defer done()
		if got != nil || write == nil {
			t.Fatalf("%s of %d bytes was encoded whole", name, len(data))
		}
		var out bytes.Buffer
		ok(t, write(&out))
		var result canvas.CanvasReadResourceResult
		ok(t, ahp.Unmarshal(out.Bytes(), &result))
		kind := result.Contents[0].MimeType
		if want := (&contentjson.Resource{URI: uri, ContentType: kind, ETag: "1", Data: data, Text: contentjson.IsText(kind, data)}).Read(); !bytes.Equal(want, out.Bytes()) {
			t.Errorf("%s: %d bytes, want %d", name, out.Len(), len(want))
		}
		if n := engine.CacheBytes(h.Canvases); n != 0 {
			t.Errorf("%d bytes of it are kept", n)
		}
		for range 2 { // the second read fills the cache, the third is served from it
			again, write, done, err := h.Canvases.Content.StreamResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: o.Channel, URI: uri})
			ok(t, err)
			done()
			if write != nil || !bytes.Equal(again, out.Bytes()) {
				t.Errorf("%s: read again, it has %d bytes, want %d", name, len(again), out.Len())
			}
			if n := engine.CacheBytes(h.Canvases); n < out.Len() {
				t.Errorf("%d bytes are kept, want %d", n, out.Len())
			}
		}
	}
}

// TestSentContentIsReadOnce: while one connection receives large content, the provider is
// asked only whether it is still the same. Changed content is read.
func TestSentContentIsReadOnce(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{CacheBytes: 1 << 10}})
	data, etag, whole := bytes.Repeat([]byte("x"), 2<<20), "1", 0
	f.read = func(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
		if req.ETag == etag {
			return canvas.Content{NotModified: true}, nil
		}
		whole++
		return canvas.Content{Data: bytes.Clone(data), ETag: etag, ContentType: "text/plain"}, nil
	}
	o, err := open(h, "one", "")
	ok(t, err)
	uri := canvas.ContentURL("one", "/a.txt")
	read := func(name string, reads int) (text string, done func()) {
		t.Helper()
		v := h.Connect(name)
		v.Subscribe(o.Channel)
		_, write, done, err := h.Canvases.Content.StreamResource(t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: o.Channel, URI: uri})
		ok(t, err)
		var out bytes.Buffer
		ok(t, write(&out))
		if whole != reads {
			t.Errorf("%s: the provider has sent the content %d times, want %d", name, whole, reads)
		}
		return out.String(), done
	}
	first, endFirst := read("first", 1)
	second, endSecond := read("second", 1)
	if first != second || !strings.Contains(second, `"uri":"`+uri+`"`) || !strings.Contains(second, `"x-ahp-canvas/etag":"1"`) {
		t.Errorf("the second reader got %.200s", second)
	}
	data, etag = bytes.Repeat([]byte("y"), 2<<20), "2"
	changed, endChanged := read("changed", 2)
	if !strings.Contains(changed, "yyy") || strings.Contains(changed, "xxx") {
		t.Error("changed content was not read")
	}
	endFirst()
	endSecond()
	endChanged()
	_, end := read("later", 3)
	end()
}
