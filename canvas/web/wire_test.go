package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestWire: parsing with cut-out data gives the same result as JSON.parse, and fails
// for invalid JSON.
func TestWire(t *testing.T) {
	e := start(t, nil)
	p := webtest.Start(t).Open(t, e.bare)
	long := strings.Repeat("QUJD", 600)
	message := func(payload string) string {
		return `{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-canvas:/one","action":{"type":"canvas/message","payload":` + payload + `},"serverSeq":7}}`
	}
	for name, text := range map[string]string{
		"data last":         message(`{"x-ahp":"http/1","type":"data","id":3,"seq":1,"data":"` + long + `"}`),
		"data first":        message(`{"data":"` + long + `","x-ahp":"http/1","type":"data","id":3,"seq":1}`),
		"in the middle":     message(`{"x-ahp":"http/1","data":"` + long + `","type":"data"}`),
		"white space":       message(`{"x-ahp":"http/1", "data" : "` + long + `" }`),
		"short":             message(`{"x-ahp":"http/1","data":"QUJD"}`),
		"escaped":           message(`{"x-ahp":"http/1","data":"` + long + `\"more\u0041"}`),
		"a slash escaped":   message(`{"x-ahp":"http/1","data":"` + long + `\/"}`),
		"twice":             message(`{"x":1,"data":"` + long + `","data":"other"}`),
		"somewhere below":   message(`{"x":{"a":1,"data":"` + long + `"},"data":"other"}`),
		"below, and none":   message(`{"x":{"a":1,"data":"` + long + `"}}`),
		"in a string":       message(`{"x":"a,\"data\":\"` + long + `","data":"other"}`),
		"a key's end":       message(`{"x":1,"a,\"data":"` + long + `"}`),
		"no string":         message(`{"x":"` + long + `","data":[1]}`),
		"of something else": `{"id":1,"result":{"x":1,"data":"` + long + `"}}`,
		"an array":          `[1,{"x":1,"data":"` + long + `"}]`,
		"cut off":           strings.TrimSuffix(message(`{"x":1,"data":"`+long+`"}`), "}"),
		"without its end":   `{"x":1,"data":"` + long,
		"followed by more":  message(`{"x":1,"data":"`+long+`"}`) + "{}",
		"nothing":           strings.Repeat(" ", 5000),
	} {
		if got := webtest.Eval[string](t, p, fmt.Sprintf(`(async () => {
			const { parse } = await import("/wire.js"), text = %q;
			const tried = (f) => { try { return JSON.stringify(f(text)); } catch (e) { return e.name; } };
			return tried(parse) === tried(JSON.parse) ? "" : tried(parse) + "\n" + tried(JSON.parse);
		})()`, text)); got != "" {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestOutlet: bytes are sent in order, at once if none are waiting, and in fewer
// messages if they arrive fast; an end sends all waiting bytes.
func TestOutlet(t *testing.T) {
	e := start(t, nil)
	p := webtest.Start(t).Open(t, e.bare)
	got := webtest.Eval[string](t, p, `(async () => {
		const { Outlet } = await import("/outlet.js");
		const said = [], big = 32 * 1024;
		const o = new Outlet((chunks) => said.push(chunks.map((c) => new Uint8Array(c)[0]).join("")));
		const add = (n, size) => { const b = new Uint8Array(size); b[0] = n; o.add(b); };
		const pause = () => new Promise((r) => setTimeout(r, 50));
		add(1, big); add(2, big); add(3, big); add(4, big); add(5, big); add(6, big); add(7, 10); add(8, 10); add(9, big);
		o.flush(); said.push("|");
		await pause(); add(1, big); add(2, big); await pause(); said.push("|"); add(3, 10); add(4, 10);
		return said.join();
	})()`)
	if want := "1,2345,67,8,9,|,1,2,|,3,4"; got != want {
		t.Errorf("they left as %s, want %s", got, want)
	}
}
