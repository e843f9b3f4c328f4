package gateway_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestInOtherBrowsers: the main ways of the gateway in Firefox and WebKit: the secret becomes
// a cookie, an app has its WebSocket and its storage, and a canvas without a server works.
func TestInOtherBrowsers(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("AHP_LONG=1 runs it; canvas/web has the page's frames in these browsers")
	}
	mux := app()
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/start" {
			mux.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>app</title><p id=shown>shown")
	}))
	app, board := s.open("app"), s.open("board")
	webtest.Each(t, func(t *testing.T) {
		b := webtest.Start(t)
		tab := b.Open(t, app)
		tab.Wait(t, `document.querySelector("#shown") && !location.search.includes("~t")`)
		tab.Wait(t, socketEcho)
		tab.Wait(t, `document.cookie === ""`)
		tab.Wait(t, `(localStorage.setItem("n", "1"), localStorage.getItem("n") === "1")`)
		tab.Reload(t)
		tab.Wait(t, `document.querySelector("#shown") && localStorage.getItem("n") === "1"`)
		cards := b.Open(t, board)
		cards.Wait(t, `document.body.innerText.includes("To do")`)
	}, webtest.Firefox, webtest.WebKit)
}
