package engine_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

func TestHandleChecksWhatItIsGiven(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	hd := f.latest().h
	v := h.Connect("v")
	v.Subscribe(o.Channel)
	for name, err := range map[string]error{
		"url":     hd.Update(t.Context(), canvas.Update{URL: ahp.Set("vscode-webview://x")}),
		"payload": hd.Post(t.Context(), ahp.Value(`{`)),
		"event":   hd.Raise(ahp.Value(strings.Repeat(" ", 65<<10) + "1")),
		"save":    hd.Save(t.Context(), make([]byte, 256<<10+1)),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	equal(t, nil, v.Brief())
	ok(t, hd.Save(t.Context(), make([]byte, 256<<10)))
	ok(t, hd.SetStatus(t.Context(), "x"))
	ok(t, hd.SetStatus(t.Context(), "x")) // no change: not sent
	ok(t, hd.SetStatus(t.Context(), ""))
	equal(t, []string{o.Channel + ` {"type":"canvas/updated","status":"x"}`, o.Channel + ` {"type":"canvas/updated","status":null}`}, v.Brief())
	equal(t, canvastest.Session+" one ahp-canvas-content:/one/a%20b?q", hd.Session()+" "+hd.InstanceID()+" "+hd.ContentURL("/a b?q"))
}
