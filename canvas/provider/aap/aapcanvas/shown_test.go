package aapcanvas_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/aapcanvas"
)

// TestShown: a View whose page changed or went while it loaded learns it when it says
// which one it shows.
func TestShown(t *testing.T) {
	e := start(t).serve()
	e.write("p.html", "<p>1")
	token, _ := e.host.Tokens()
	channel := e.channel("p", aapcanvas.PageID, `{"file":"p.html"}`)
	p := e.connect(token, channel)
	read := func() string {
		c, err := p.c.ReadResource(t.Context(), channel, canvas.ContentURL("p", "/"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(c.Data), `data-aap-version="`)
		version, _, _ := strings.Cut(rest, `"`)
		return version
	}
	receives := func(when, want string) {
		t.Helper()
		if got := p.receives(); got != want {
			t.Errorf("%s, the View received %s, want %s", when, got, want)
		}
	}
	shown := func(version, answer string) {
		t.Helper()
		if err := p.say(`{"type":"aap:shown","version":"` + version + `"}`); err != nil {
			t.Fatal(err)
		}
		receives("after it said "+version, answer)
	}
	old := read()
	shown("another", `{"type":"aap:changed","version":"`+old+`"}`)
	if err := p.say(`{"type":"aap:shown","version":"` + old + `"}`); err != nil { // no answer
		t.Fatal(err)
	}
	e.write("p.html", "<p>12")
	now := `{"type":"aap:changed","version":"` + read() + `"}`
	receives("after a change", now)
	shown(old, now)
	e.remove("p.html")
	const gone = `{"type":"aap:changed","removed":true}`
	receives("after the file was removed", gone)
	shown(old, gone)
}
