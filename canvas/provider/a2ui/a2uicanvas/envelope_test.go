package a2uicanvas_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// tap keeps what the page sends, as it leaves the document.
const tap = `(w.sent ??= [], w.tapped ??= (() => { const post = w.MessagePort.prototype.postMessage;
	w.MessagePort.prototype.postMessage = function (m, ...more) { if (m?.t === "send") w.sent.push(m.value ?? m.payload); return post.call(this, m, ...more); }; return true; })())`

// TestEnvelope: each message of the page carries its capabilities and the whole models of
// the surfaces that sync, and of no others: with an action of any surface, and with a text
// (rules 19 and 23). Surfaces are drawn in the order in which they were created, up to 16
// (rule 25).
func TestEnvelope(t *testing.T) {
	s := newStage(t)
	surface := func(id, sync string) string {
		return `{"version":"v0.9","createSurface":{"surfaceId":"` + id + `","catalogId":"` + a2ui.BasicCatalogID + `"` + sync + `}},{"version":"v0.9","updateComponents":{"surfaceId":"` + id + `","components":[{"id":"root","component":"Column","children":["in","go"]},
			{"id":"in","component":"TextField","label":"In","value":{"path":"/in"}},{"id":"go","component":"Button","child":"label","action":{"event":{"name":"go"}}},{"id":"label","component":"Text","text":"go ` + id + `"}]}},
			{"version":"v0.9","updateDataModel":{"surfaceId":"` + id + `","value":{"of":"` + id + `"}}}`
	}
	const sync = `,"sendDataModel":true`
	list := []string{surface("zulu", sync), surface("quiet", ""), surface("alpha", sync)}
	names := []string{"zulu", "quiet", "alpha"}
	for n := range 13 { // up to 16, in an order that is not that of the names
		names = append(names, fmt.Sprintf("s%d", 30-n))
		list = append(list, `{"version":"v0.9","createSurface":{"surfaceId":"`+names[len(names)-1]+`","catalogId":"`+a2ui.BasicCatalogID+`"}}`)
	}
	s.open("a2ui", "x", `{"messages":[`+strings.Join(list, ",")+`]}`)
	v := s.screen(webtest.Start(t))
	v.wait(`all(".surface").length === 16 && all("input[type=text]").length === 3`)
	if got := v.eval(`all(".surface").map((e) => e.getAttribute("aria-label")).join()`); got != strings.Join(names, ",") {
		t.Errorf("surfaces %s, want %s", got, names)
	}
	if got := s.try("x", `{"version":"v0.9","createSurface":{"surfaceId":"more","catalogId":"`+a2ui.BasicCatalogID+`"}}`); !strings.Contains(got, a2ui.CodeTooLarge) {
		t.Errorf("a 17th surface: %s", got)
	}
	v.do(tap)
	v.do(`all("input[type=text]").forEach((e, n) => { e.value = "typed " + n; e.dispatchEvent(new w.InputEvent("input", { bubbles: true })); })`)
	for _, act := range []string{`button("go zulu").click()`, `button("go quiet").click()`, `(at("#line").value = "okay, submit", at("#send").click())`} {
		v.do(`w.sent.length = 0`)
		v.do(act)
		v.wait(`w.sent.length === 1 && !at("#send").disabled`)
		var got struct {
			Model        ahp.Value `json:"a2uiClientDataModel"`
			Capabilities ahp.Value `json:"a2uiClientCapabilities"`
		}
		if err := ahp.Unmarshal(ahp.Value(v.eval(`JSON.stringify(w.sent[0].metadata)`)), &got); err != nil {
			t.Fatal(err)
		}
		want := `{"version":"v0.9","surfaces":{"zulu":{"of":"zulu","in":"typed 0"},"alpha":{"of":"alpha","in":"typed 2"}}}`
		if !ahp.Equal(got.Model, ahp.Value(want)) {
			t.Errorf("%s\n%s", act, cmp.Diff(want, string(got.Model)))
		}
		if !strings.Contains(string(got.Capabilities), a2ui.BasicCatalogID) {
			t.Errorf("%s: capabilities %s", act, got.Capabilities)
		}
	}
	for _, path := range []string{"/__proto__/polluted", "/constructor/prototype/polluted"} {
		if got := s.try("x", `{"version":"v0.9","updateDataModel":{"surfaceId":"zulu","path":"`+path+`","value":1}}`); !strings.Contains(got, "not allowed") {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := v.eval(`({}).polluted + " " + new w.Object().polluted`); got != "undefined undefined" {
		t.Errorf("the page's prototype has a member: %s", got)
	}
}
