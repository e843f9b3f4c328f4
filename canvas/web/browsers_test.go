package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestInOtherBrowsers runs the main paths through the page in the other browsers.
func TestInOtherBrowsers(t *testing.T) {
	webtest.Each(t, func(t *testing.T) {
		t.Run("canvas", TestCanvas)
		t.Run("sealed vectors", TestSealVectors)
		t.Run("actions", TestActions)
		t.Run("close by keyboard", TestClose)
		t.Run("theme", TestTheme)
		t.Run("forced reload", TestForcedReload)
		t.Run("narrow", TestNarrow)
		t.Run("host gone and back", TestPageReconnects)
		t.Run("host forgot", TestHostRestarted)
		t.Run("app fetch", TestFetch)
		t.Run("app upload", TestUpload)
		t.Run("app form", TestForm)
		t.Run("app abort", TestAbort)
		t.Run("app event stream", TestEventStreamEnds)
		t.Run("app away", TestReconnect)
		t.Run("app silent", TestHostIsSilent)
		t.Run("single document", TestSingleDocument)
		t.Run("messages to the parent", TestPlainDocument)
		t.Run("under a prefix", TestUnderAPrefix)
		t.Run("no content origins", TestNoContentOrigin)
		t.Run("does not run", TestPageThatDoesNotRun)
		t.Run("on the listener", TestFramedOnTheListener)
		t.Run("shell", TestShellByKeyboard)
		t.Run("offline", TestOffline)
		if long {
			t.Run("panes", TestPanes)
			t.Run("many", TestManyCanvases)
			t.Run("dialogs", TestKeyboardDialogs)
			t.Run("pictures", TestPictures)
		}
	}, webtest.Firefox, webtest.WebKit)
}

// TestForcedReload: the page shows its canvases after a forced reload, in which Firefox
// bypasses service workers.
func TestForcedReload(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	for range 2 {
		shown(t, p, 1)[0].Wait(t, document+`.getElementById("said").textContent === 'input {"start":7}'`)
		p.Reload(t)
	}
}

// TestNarrow: the page fits a narrow window.
func TestNarrow(t *testing.T) {
	e := start(t, nil, helloSite("one"), helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 2)
	p.Resize(t, 460, 860) // the narrowest that Firefox is
	p.Wait(t, `innerWidth < 520 && document.documentElement.scrollWidth <= innerWidth && new Set([...document.querySelectorAll(".card:not([hidden])")].map((c) => c.offsetLeft)).size === 1`)
	save(t, "narrow", p)
}
