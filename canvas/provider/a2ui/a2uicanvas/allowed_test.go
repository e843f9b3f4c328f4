package a2uicanvas_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestAllowedPictures: pictures of an origin that the operator allows are shown, in an
// element and in Markdown, and those of other origins are boxes, without a request.
func TestAllowedPictures(t *testing.T) {
	b := webtest.Start(t, "ignore-certificate-errors")
	if b.Kind != webtest.Chromium {
		t.Skip("the other browsers refuse the certificate")
	}
	png := picture(t)
	var mu sync.Mutex
	asked := map[string][]string{}
	server := func(name string) string {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[name] = append(asked[name], r.URL.Path)
			mu.Unlock()
			_, _ = w.Write(png)
		}))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv.URL
	}
	images, other := server("images"), server("other")
	s := stageWith(t, host.Options{AllowOrigins: map[string][]string{a2uicanvas.ExtensionID: {images}}}, a2uicanvas.Options{})
	s.open("a2ui", "x", `{"messages":`+surfaceOf(`{"id":"root","component":"Column","children":["a","b","md"]},
		{"id":"a","component":"Image","url":"`+images+`/a.png","description":"A"},{"id":"b","component":"Image","url":"`+other+`/b.png","description":"B"},
		{"id":"md","component":"Text","text":"![c](`+images+`/c.png) ![d](`+other+`/d.png)"}`)+`}`)
	v := s.screen(b)
	v.wait(`all("img").length === 2 && all("img").every((i) => i.complete && i.naturalWidth > 0) && says().includes("Picture, not loaded from 127.0.0.1") && says().includes("d (not loaded from")`)
	if got := webtest.Eval[string](t, v.tab, `document.querySelector(".card .note").textContent`); got != "This canvas may load from "+strings.TrimPrefix(images, "https://")+"." {
		t.Errorf("the card says %q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := asked["images"]; len(got) != 2 || len(asked["other"]) != 0 {
		t.Errorf("requests %v", asked)
	}
}
