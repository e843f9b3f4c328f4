package web_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// see looks at a canvas as an agent does, without a picture.
func (e *env) see(t *testing.T, id string) canvas.Look {
	t.Helper()
	l, err := e.host.Look(t.Context(), canvas.LookArgs{Session: host.DefaultSession, InstanceID: id, NoPicture: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLookInSingleDocumentMode: the document describes itself there, without what is private.
func TestLookInSingleDocumentMode(t *testing.T) {
	s := site{id: "one", files: map[string]string{"index.html": `<!doctype html><title>T</title><h1>Hello</h1><input aria-label="Name" value="Ann"><p data-private>salary</p><script>nope()</script>`}}
	e := start(t, without(noWorker), s)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, spoken+` !== "" && document.querySelector(".words").hidden`)
	l := e.see(t, "one")
	if l.Source != "view" || !strings.Contains(l.Outline, `heading 1 "Hello"`) || !strings.Contains(l.Outline, "= Ann") || strings.Contains(l.Outline, "salary") {
		t.Errorf("source %q, outline:\n%s", l.Source, l.Outline)
	}
	if len(l.Problems) == 0 || !strings.Contains(l.Problems[0].Text, "nope") {
		t.Errorf("problems: %+v", l.Problems)
	}
}

// TestLookAtADirectURL: the page says why the document is not described.
func TestLookAtADirectURL(t *testing.T) {
	s := helloSite("one")
	s.url = "http://127.0.0.1:9/app"
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.querySelector(".card iframe")`)
	if l := e.see(t, "one"); l.Outline != "" || !strings.Contains(l.Message, "http://127.0.0.1:9/app, a page of another origin") {
		t.Errorf("outline %q, message %q", l.Outline, l.Message)
	}
}
