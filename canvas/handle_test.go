package canvas_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

func TestHandleChecksWhatItIsGiven(t *testing.T) {
	h, f, _ := newFake(t, canvas.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	hd := f.latest().h
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	for name, err := range map[string]error{
		"title":   hd.SetTitle("a\nb"),
		"url":     hd.Update(canvas.Update{URL: ahp.Set("vscode-webview://x")}),
		"payload": hd.Post(ahp.Value(`{`)),
		"event":   hd.Raise(ahp.Value(strings.Repeat(" ", 65<<10) + "1")),
		"save":    hd.Save(make([]byte, 256<<10+1)),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	equal(t, nil, v.Brief())
	ok(t, hd.Save(make([]byte, 256<<10)))
	ok(t, hd.SetStatus("x"))
	ok(t, hd.SetStatus("x")) // without effect: not sent
	ok(t, hd.SetStatus(""))
	equal(t, []string{o.Channel + ` {"type":"canvas/updated","status":"x"}`, o.Channel + ` {"type":"canvas/updated","status":null}`}, v.Brief())
	equal(t, canvastest.Session+" one ahp-canvas-content:/one/a%20b?q", hd.Session()+" "+hd.InstanceID()+" "+hd.ContentURL("/a b?q"))
}
