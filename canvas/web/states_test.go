package web_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestStaleAfterReload: a page that is loaded while a canvas is stale says that once, and in
// one voice.
func TestStaleAfterReload(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale), Status: ahp.Set("3 of 5 cards done")})
	p := webtest.Start(t).Open(t, e.link)
	f := p.Frames(t, 1, webtest.ContentFrame)[0]
	f.Wait(t, document+`.getElementById("said") && `+document+`.readyState === "complete"`) // the canvas's page was loaded all the same
	webtest.Eval[bool](t, f, `new Promise((r) => setTimeout(() => r(true), 100))`)
	p.Wait(t, words+` === "Waiting for the provider This canvas's provider is not running. The canvas appears when the provider is back."`)
}

// TestMissingSessionLeadsOn: a page of a session that does not exist leads to the one that does.
func TestMissingSessionLeadsOn(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, web.Link(e.origin, viewToken, "ahp-session:/gone"))
	p.Wait(t, `document.querySelector("#empty button").textContent === "Open the host's first session"`)
	webtest.Eval[any](t, p, `document.querySelector("#empty button").click()`)
	for range 50 { // a wait ends with the page that it began in
		if p.WaitAtMost(webtest.Timeout/50, `document.querySelector(".card .words[hidden]")`) {
			return
		}
	}
	t.Error("the first session's canvas is not shown")
}

// TestInstallable: the page has what browsers need to install it as an app.
func TestInstallable(t *testing.T) {
	e := start(t, nil)
	get := func(name string) *http.Response {
		t.Helper()
		r, err := http.Get(e.origin + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Body.Close() })
		return r
	}
	r := get("manifest.webmanifest")
	var app struct {
		Name, Display string
		StartURL      string `json:"start_url"`
		Icons         []struct{ Src, Type, Sizes string }
	}
	if err := json.NewDecoder(r.Body).Decode(&app); err != nil || r.Header.Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("%v, %s", err, r.Header.Get("Content-Type"))
	}
	if app.Name == "" || app.Display != "standalone" || app.StartURL == "" || len(app.Icons) == 0 {
		t.Errorf("the manifest is %+v", app)
	}
	for _, icon := range app.Icons {
		if got := get(icon.Src).Header.Get("Content-Type"); got != icon.Type {
			t.Errorf("icon %s is %s, not %s", icon.Src, got, icon.Type)
		}
	}
}
