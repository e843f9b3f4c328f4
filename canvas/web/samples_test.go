package web_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// openSample opens a bundled canvas.
func (e *env) openSample(t *testing.T, p *sample.Provider, id, input string) {
	t.Helper()
	if _, err := e.host.Canvases().Register(p.Extension(), p, p.Declarations()...); err != nil {
		t.Fatal(err)
	}
	opened, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: p.Declarations()[0].CanvasID, InstanceID: id, Input: ahp.Value(input)})
	if err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.channels[id] = opened.Channel
	e.mu.Unlock()
}

// openSamples opens the bundled canvases as "board", "chart" and "form".
func openSamples(t *testing.T, e *env) {
	t.Helper()
	e.openSample(t, board.New(), "board", `{"title":"Release 2.0","lists":["This week","Done"]}`)
	e.openSample(t, chart.New(), "chart", `{}`)
	e.openSample(t, form.New(), "form", `{"title":"Publish 2.0 on Thursday?","description":"All checks pass.","fields":[{"name":"version","label":"Version","type":"text","value":"2.0.0","required":true},{"name":"channel","label":"Channel","type":"choice","options":["stable","beta"],"value":"stable"}]}`)
}

// TestDirectionInSamples: what people and agents write in Hebrew or Arabic is read from right
// to left in the bundled canvases.
func TestDirectionInSamples(t *testing.T) {
	e := start(t, nil)
	e.openSample(t, board.New(), "board", `{"title":"לוח המשימות","lists":["השבוע","تم"]}`)
	e.openSample(t, chart.New(), "chart", `{"title":"מבקרים","source":"عداد","columns":[{"name":"דף","type":"text"},{"name":"جهاز","type":"text"},{"name":"מספר","type":"number"}],"rows":[["בית","هاتف",3],["חנות","هاتف",5],["חנות","מחשב",2]],"query":{"measure":"מספר","groupBy":"דף","splitBy":"جهاز"}}`)
	e.openSample(t, form.New(), "form", `{"title":"לפרסם?","description":"كل الاختبارات نجحت.","approveLabel":"אישור","declineLabel":"رفض","fields":[{"name":"a","label":"גרסה","type":"text","value":"שתיים"},{"name":"b","label":"قناة","type":"choice","options":["מהיר","بطيء"]},{"name":"c","label":"הערה","type":"multiline"},{"name":"d","label":"نعم","type":"boolean"}]}`)
	p := webtest.Start(t).Open(t, e.link)
	for _, f := range shown(t, p, 3) {
		f.Wait(t, document+`.body.getAttribute("aria-busy") === "false"`)
		webtest.Eval[any](t, f, `void `+document+`.getElementById("table-button")?.click()`)
		if got := webtest.Eval[[]string](t, f, `[...`+document+`.querySelectorAll("body *:not(option, select, svg *, script, .unseen)")].filter((e) => e.checkVisibility() &&
			[...e.childNodes].some((n) => n.nodeType === 3 && /^\s*[\u0590-\u06ff]/.test(n.data)) && `+win+`.getComputedStyle(e).direction !== "rtl").map((e) => e.localName + "." + e.className + " " + e.textContent)`); len(got) > 0 {
			t.Errorf("read from left to right: %s", strings.Join(got, "; "))
		}
	}
}
