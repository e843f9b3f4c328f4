package web_test

import (
	"net/http"
	"testing"
)

// TestNewWindow: a link or form for a new window opens in the canvas, one for an
// existing frame opens there, and one for another origin does not open.
func TestNewWindow(t *testing.T) {
	a := newApp(t)
	a.page("/links", `<title>Links</title><a id=blank target=_blank href=/there?blank><b>blank</b></a> <a id=named target=tab href=/there?named>named</a>
		<form id=form target=_BLANK action=/there><input name=form></form>
		<a id=frame target=part href=/part>frame</a> <a id=away target=_blank href=http://127.0.0.1:9/>away</a>
		<a id=own target=_blank href=/there onclick="event.preventDefault(); document.own = true">own</a><iframe name=part></iframe>`)
	a.page("/there", `<title>There</title>`)
	a.HandleFunc("/part", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>Part</title><a id=up target=part href=/part?again>again</a> <a id=out target=_blank href=/part?out>out</a>`))
	})
	_, _, frame := showApp(t, a)
	links := func() {
		t.Helper()
		inCanvas[any](t, frame, `location.href = "/links"`)
		frame.Wait(t, document+`.title === "Links"`)
	}
	for _, tt := range []struct{ do, search string }{
		{`document.querySelector("#blank b").click()`, "?blank"}, {`document.querySelector("#named").click()`, "?named"}, {`document.querySelector("#form").requestSubmit()`, "?form="},
	} {
		links()
		inCanvas[any](t, frame, tt.do)
		frame.Wait(t, document+`.title === "There" && `+document+`.location.search === "`+tt.search+`"`)
	}
	links()
	inCanvas[any](t, frame, `for (const id of ["own", "away", "frame"]) document.getElementById(id).click()`)
	const part = document + `.querySelector("iframe").contentDocument`
	frame.Wait(t, part+`?.title === "Part" && `+document+`.own`)
	for _, id := range []string{"up", "out"} {
		inCanvas[any](t, frame, `document.querySelector("iframe").contentDocument.getElementById("`+id+`").click()`)
		frame.Wait(t, part+`?.location.search === "?`+map[string]string{"up": "again", "out": "out"}[id]+`" && `+part+`.title === "Part"`)
	}
	frame.Wait(t, document+`.title === "Links"`)
}
