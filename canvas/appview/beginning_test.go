package appview_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// mountByHand mounts the shell without the official bridge. It gives [what the shell said
// before its first answer, the parameters of its request, what it said then, its words after
// another window claimed to be the chat, and after the chat spoke].
const mountByHand = `(async () => {
	const uri = chat.tools().find((t) => t.name === "open_canvas")._meta.ui.resourceUri;
	const f = document.createElement("iframe"), heard = [], rest = (ms) => new Promise((r) => setTimeout(r, ms));
	addEventListener("message", ({ source, data }) => { if (source === f.contentWindow) heard.push(data); });
	f.srcdoc = (await chat.read(uri)).contents[0].text;
	document.body.append(f);
	const cancelled = (reason) => ({ jsonrpc: "2.0", method: "ui/notifications/tool-cancelled", params: { reason } });
	const words = () => f.contentDocument.getElementById("words").textContent;
	while (heard.length === 0) await rest(20);
	await rest(500);
	const before = heard.map((m) => m.method).join();
	f.contentWindow.postMessage({ jsonrpc: "2.0", id: heard[0].id, result: { protocolVersion: "2026-01-26", hostInfo: { name: "x", version: "1" }, hostCapabilities: {}, hostContext: {} } }, "*");
	while (heard.length < 2) await rest(20);
	const other = document.createElement("iframe");
	document.body.append(other);
	other.contentWindow.eval("(to, m) => to.postMessage(m, '*')")(f.contentWindow, cancelled("forged"));
	await rest(300);
	const forged = words();
	f.contentWindow.postMessage(cancelled("of the chat"), "*");
	while (words() === forged) await rest(20);
	return [before, JSON.stringify(heard[0].params), heard[1].method, forged, words()];
})()`

// TestBeginning: the shell says nothing before the chat has answered its request, and listens
// to the chat alone.
func TestBeginning(t *testing.T) {
	t.Parallel()
	p := newChats(t).chat(t, webtest.Start(t), nil)
	got := webtest.Eval[[]string](t, p, mountByHand)
	want := []string{
		"ui/initialize", `{"protocolVersion":"2026-01-26","appInfo":{"name":"ahp-canvas","version":"1"},"appCapabilities":{"availableDisplayModes":["inline","fullscreen"]}}`,
		"ui/notifications/initialized", "", "of the chat",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the shell said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestErrorResult: an open that failed is its words, without a button.
func TestErrorResult(t *testing.T) {
	t.Parallel()
	p := newChats(t).chat(t, webtest.Start(t), nil)
	result := open(t, p, object{"canvasId": "no-such-canvas"})
	words := result["content"].([]any)[0].(object)["text"].(string)
	shell := shellOf(t, p)
	shell.Wait(t, inShell(`!document.getElementById("card").hidden && document.getElementById("open").hidden`))
	if got := webtest.Eval[string](t, shell, inShell(`document.getElementById("words").textContent`)); got != words || got == "" {
		t.Errorf("the View says %q, the result %q", got, words)
	}
	save(t, "chat-error", p)
	clean(t, p)
}
