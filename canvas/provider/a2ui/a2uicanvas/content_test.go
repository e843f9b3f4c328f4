package a2uicanvas_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
)

// content reads a file of instance "i"; nil and the error if there is none.
func (b *bench) content(path string) (data []byte, kind string) {
	b.t.Helper()
	v := b.Connect("reader")
	v.Subscribe(b.channel)
	defer v.Leave()
	raw, err := b.Canvases.Content.CanvasReadResource(b.t.Context(), v.Sub, canvas.CanvasReadResourceParams{Channel: b.channel, URI: canvas.ContentURL("i", path)})
	if err != nil {
		return nil, err.Error()
	}
	var result canvas.CanvasReadResourceResult
	if err := ahp.Unmarshal(raw, &result); err != nil || len(result.Contents) != 1 {
		b.t.Fatalf("%s: %v", raw, err)
	}
	c := result.Contents[0]
	if c.Text != nil {
		return []byte(*c.Text), c.MimeType
	}
	if data, err = base64.StdEncoding.DecodeString(*c.Blob); err != nil {
		b.t.Fatal(err)
	}
	return data, c.MimeType
}

func mediaPath(url string) string {
	return "/media/" + base64.RawURLEncoding.EncodeToString([]byte(url))
}

// picture is a small PNG.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMedia: the host fetches pictures of allowed origins, and nothing else (rule 38).
func TestMedia(t *testing.T) {
	t.Parallel()
	raw := picture(t)
	var hits, foreign atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { foreign.Add(1) }))
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		switch r.URL.Path {
		case "/a.png":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(raw)
		case "/html.png":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "<script>alert(1)</script>")
		case "/svg":
			_, _ = io.WriteString(w, `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`)
		case "/big":
			_, _ = w.Write(append(raw, make([]byte, 4<<20)...))
		case "/off":
			http.Redirect(w, r, other.URL, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	client := outbound.New(outbound.Options{Loopback: true, Origins: []string{srv.URL}})
	t.Cleanup(func() { _ = client.Close() })
	var log bytes.Buffer
	b := newBench(t, engine.Options{}, a2uicanvas.Options{Media: client, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	b.channel = b.Open("a2ui", "i", nil).Channel
	for range 2 {
		if data, kind := b.content(mediaPath(srv.URL + "/a.png")); !bytes.Equal(data, raw) || kind != "image/png" {
			t.Errorf("a picture: %d bytes, %s", len(data), kind)
		}
	}
	if n := hits.Load(); n != 1 {
		t.Errorf("%d requests for one picture", n)
	}
	for _, url := range []string{srv.URL + "/html.png", srv.URL + "/svg", srv.URL + "/big", srv.URL + "/off", srv.URL + "/none", other.URL + "/a.png",
		"https://169.254.169.254/", "file:///etc/passwd", strings.Replace(srv.URL, "http://", "http://user@", 1) + "/a.png", srv.URL + "/a.png?" + strings.Repeat("x", 2048)} {
		if data, kind := b.content(mediaPath(url)); data != nil {
			t.Errorf("%.100s: %d bytes, %s", url, len(data), kind)
		}
	}
	if n := foreign.Load(); n != 0 {
		t.Errorf("%d requests to another origin", n)
	}
	if strings.Contains(log.String(), "127.0.0.1") {
		t.Errorf("the log has an address: %s", log.String())
	}
	v := b.join("v")
	v.Say(b.channel, `{"parts":[]}`)
	v.Await("the origins", func(e ahp.ActionEnvelope) bool {
		return strings.Contains(string(e.Action), `"x-ahp-canvas/media":["`+srv.URL+`"]`)
	})
}

// TestContent: the page, the surfaces, the catalog and the licenses; without a client no
// pictures.
func TestContent(t *testing.T) {
	t.Parallel()
	b := newBench(t, engine.Options{}, a2uicanvas.Options{})
	b.channel = b.Open("a2ui", "i", ahp.Value(`{"messages":`+form+`}`)).Channel
	for path, want := range map[string]struct{ kind, has string }{
		"/":             {"text/html", "renderer"},
		"/page.js":      {"text/javascript", "renderer.js"},
		"/surface.json": {a2ui.MIMEv091, "12345678901234567890.10"},
		"/catalog.json": {"application/json", a2ui.BasicCatalogID},
		"/licences.txt": {"text/plain", "Apache License"},
	} {
		if data, kind := b.content(path); !strings.HasPrefix(kind, want.kind) || !strings.Contains(string(data), want.has) && path != "/" {
			t.Errorf("%s: %s, %.100s", path, kind, data)
		}
	}
	for _, path := range []string{"/declarations.json", "/media/x", mediaPath("https://example.com/a.png"), "/surface.json/", "/nothing"} {
		if data, kind := b.content(path); data != nil {
			t.Errorf("%s: %s, %.100s", path, kind, data)
		}
	}
}
