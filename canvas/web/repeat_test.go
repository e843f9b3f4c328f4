package web_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestSafeMethodsOfThePage: the page's list of methods that change nothing is that of the tables.
func TestSafeMethodsOfThePage(t *testing.T) {
	text, err := os.ReadFile("page/safe.js")
	if err != nil {
		t.Fatal(err)
	}
	var listed, safe []string
	for _, m := range regexp.MustCompile(`"([\w/-]+)"`).FindAllSubmatch(text, -1) {
		listed = append(listed, string(m[1]))
	}
	for _, m := range slices.Concat(ahp.Methods, session.Methods, canvas.Methods) {
		if m.Safe {
			safe = append(safe, m.Name)
		}
	}
	slices.Sort(listed)
	slices.Sort(safe)
	if !slices.Equal(listed, safe) {
		t.Errorf("the page has %q, the tables have %q", listed, safe)
	}
}

// TestReadsAreRepeated: a connection that is lost under a read fails no file of a canvas: the
// page sends the read again on the next one.
func TestReadsAreRepeated(t *testing.T) {
	one := helloSite("one")
	one.files["late.txt"] = "late text"
	p := webtest.Start(t).Open(t, start(t, nil, one).link)
	frame := shown(t, p, 1)[0]
	webtest.Eval[any](t, p, `void (() => {
		window.asked = [];
		const send = WebSocket.prototype.send;
		WebSocket.prototype.send = function (m) {
			const { method, params } = JSON.parse(m);
			if (params?.uri?.includes("late.txt") && asked.push(method) === 1) this.close();
			else send.call(this, m);
		};
	})()`)
	if got := inCanvas[string](t, frame, `return await (await fetch("late.txt")).text()`); got != "late text" {
		t.Errorf("the file is %q", got)
	}
	if asked := webtest.Eval[string](t, p, `asked.join()`); asked != "canvasReadResource,canvasReadResource" {
		t.Errorf("sent %s", asked)
	}
}
