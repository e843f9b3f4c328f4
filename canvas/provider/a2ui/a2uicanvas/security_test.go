package a2uicanvas_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// surfaceOf returns the messages that draw components in a surface.
func surfaceOf(components string) string {
	return `[{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"` + a2ui.BasicCatalogID + `","theme":{"agentDisplayName":"Your bank","primaryColor":"#00FF00"},"sendDataModel":true}},
		{"version":"v0.9","updateComponents":{"surfaceId":"s","components":[` + components + `]}}]`
}

// TestHostileAgent: what an agent writes is text, runs nothing, loads nothing and opens
// nothing, and an agent cannot take another name.
func TestHostileAgent(t *testing.T) {
	var hits atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer canary.Close()
	evil := string(ahp.MustMarshal(`<img src=x onerror="top.hacked=1;hacked=1"> <svg onload="hacked=1"></svg> [x](javascript:hacked=1) <script>hacked=1</script> ![p](` + canary.URL + `/md.png) <b>bold</b> [ok](https://a2ui.org/ok)`))
	s := newStage(t)
	s.open("a2ui", "x", `{"messages":`+surfaceOf(`
		{"id":"root","component":"Column","children":["body","head","cap","field","pick","tabs","image","video","audio","button"]},
		{"id":"body","component":"Text","text":`+evil+`},{"id":"head","component":"Text","variant":"h1","text":`+evil+`},{"id":"cap","component":"Text","variant":"caption","text":`+evil+`},
		{"id":"field","component":"TextField","label":`+evil+`,"value":{"path":"/v"}},
		{"id":"pick","component":"ChoicePicker","label":`+evil+`,"options":[{"label":`+evil+`,"value":"a"}],"value":["a"],"variant":"mutuallyExclusive"},
		{"id":"tabs","component":"Tabs","tabs":[{"title":`+evil+`,"child":"cap"}]},
		{"id":"image","component":"Image","url":"`+canary.URL+`/i.png","description":`+evil+`},
		{"id":"video","component":"Video","url":"`+canary.URL+`/v.mp4"},{"id":"audio","component":"AudioPlayer","url":"`+canary.URL+`/a.mp3","description":`+evil+`},
		{"id":"button","component":"Button","child":"head","action":{"event":{"name":"go"}}}`)+`}`)
	v := s.screen(webtest.Start(t))
	v.wait(`says().includes("<svg onload") && says().includes("Picture, not loaded from 127.0.0.1") && says().includes("Video, not loaded") && all("strong").length > 0`)
	v.wait(`says().includes("p (not loaded from 127.0.0.1")`) // a picture in Markdown is its text
	for _, bad := range []string{`all("img, svg, video, audio, script:not([src]), [onerror], [onload]").length`, `all("a").filter((a) => !/^https?:/.test(a.href)).length`, `Number("hacked" in w)`} {
		if got := v.eval(bad); got != "0" {
			t.Errorf("%s is %s", bad, got)
		}
	}
	v.wait(`at(".goes").textContent === "What you enter here goes to Agent." && !d.body.innerText.includes("Your bank")`)

	v.do(`d.head.append(Object.assign(d.createElement("script"), { textContent: "try { eval('1'); evaluated = 'ran' } catch (e) { evaluated = e.name }" }))`)
	if got := v.eval(`w.evaluated`); got != "EvalError" {
		t.Errorf("eval in the page: %s", got)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the page loaded %d times from elsewhere", n)
	}
}

// TestLinksOpenNothing: only the person's act shows an address, and only a bar outside the
// frame opens it.
func TestLinksOpenNothing(t *testing.T) {
	var list, ids []string
	urls := []string{"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "blob:https://a2ui.org/x", "http://example.com/", "https://me@example.com/", "https://" + strings.Repeat("a", 2100) + ".example/", "https://a2ui.org/help"}
	for n, url := range urls {
		id := "b" + string(rune('0'+n))
		ids = append(ids, `"`+id+`"`)
		list = append(list, `{"id":"`+id+`","component":"Button","child":"`+id+`t","action":{"functionCall":{"call":"openUrl","args":{"url":`+string(ahp.MustMarshal(url))+`},"returnType":"void"}}},{"id":"`+id+`t","component":"Text","text":"`+id+`"}`)
	}
	s := newStage(t)
	s.open("a2ui", "x", `{"messages":`+surfaceOf(`{"id":"root","component":"Column","children":["md",`+strings.Join(ids, ",")+`]},{"id":"md","component":"Text","text":"[away](https://example.com/away)"},`+strings.Join(list, ","))+`}`)
	v := s.screen(webtest.Start(t))
	if events := s.events(); events != nil {
		t.Fatalf("not drawn: %q", events)
	}
	v.wait(`button("b7") && at("a[href]")`)
	const bar = `[...document.querySelectorAll(".offer:not([hidden]) .address")].map((e) => e.textContent).join()`
	for n := range len(urls) - 1 {
		v.do(`button("b` + string(rune('0'+n)) + `").click()`)
		v.wait(`at("#notices p:last-child").textContent.includes("was not opened")`)
		v.do(`at("#notices").replaceChildren()`)
	}
	if got := webtest.Eval[string](t, v.tab, bar); got != "" {
		t.Errorf("a bar shows %q", got)
	}
	v.do(`all("a[href^=https]")[0].click()`)
	v.tab.Wait(t, bar+` === "https://example.com/away"`)
	for range 10 {
		v.do(`button("b7").click()`)
	}
	v.tab.Wait(t, bar+` === "https://a2ui.org/help"`)
	if n := webtest.Eval[int](t, v.tab, `document.querySelectorAll(".offer:not([hidden])").length`); n != 1 {
		t.Errorf("%d bars", n)
	}
	v.wait(`says().includes("b7")`) // the page has not navigated
	if s.events() != nil {
		t.Errorf("a function call reached the agent: %q", s.events())
	}
}
