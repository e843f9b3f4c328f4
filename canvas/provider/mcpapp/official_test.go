package mcpapp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// officialHost shows a View under the official bridge: with the page, the arguments and the
// result that our page has, and calls that reach the same server.
const officialHost = `
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
globalThis.show = async (sandbox, size) => {
	const html = await (await fetch("/view")).text(), opening = await (await fetch("/opening")).json();
	const call = (method) => async (params) => {
		const answer = await (await fetch("/rpc", { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) })).json();
		if (answer.error) throw new Error(answer.error.message);
		return answer.result;
	};
	const frame = document.createElement("iframe");
	frame.style.cssText = "border: 0; width: " + size[0] + "px; height: " + size[1] + "px";
	const bridge = new AppBridge(null, { name: "official", version: "1" }, { serverTools: {}, serverResources: {}, openLinks: {}, logging: {}, updateModelContext: {}, message: {} },
		{ hostContext: { theme: "light", displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"], containerDimensions: { width: size[0], height: size[1] }, toolInfo: { tool: opening.tool } } });
	bridge.oncalltool = call("tools/call");
	bridge.onreadresource = call("resources/read");
	bridge.onlistresources = call("resources/list");
	bridge.onupdatemodelcontext = bridge.onmessage = async () => ({});
	bridge.onrequestdisplaymode = async () => ({ mode: "inline" });
	const ready = new Promise((go) => { bridge.onsandboxready = go; });
	bridge.oninitialized = async () => {
		await bridge.sendToolInput({ arguments: opening.arguments });
		await bridge.sendToolResult(opening.result);
		globalThis.sent = true;
	};
	frame.src = sandbox;
	document.body.append(frame);
	await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
	await ready;
	await bridge.sendSandboxResourceReady({ html });
};
document.title = "ready";`

// words are the different words that a View d shows, without numbers.
const words = `[...new Set(d.body.innerText.match(/[A-Za-z]{3,}/g))].sort().join(" ")`

// showsTheSame reports whether a View shows under the official bridge, beside it, the words
// that it shows here.
func (e *env) showsTheSame(t *testing.T, b *webtest.Browser, v *viewer, instance, shows string) bool {
	t.Helper()
	hostPage := "<!doctype html><meta charset=utf-8><title>loading</title><body><script>" + bundled(t, officialHost) + "</script>"
	serve := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sandbox":
			http.ServeFile(w, r, "../../appview/testdata/sandbox.html")
		case "/view", "/opening":
			_, _, body := e.request(instance, "GET", "/-"+r.URL.Path, "")
			_, _ = io.WriteString(w, body)
		case "/rpc":
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, e.rpc(instance, string(body)))
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, hostPage)
		}
	}
	front, views := httptest.NewServer(http.HandlerFunc(serve)), httptest.NewServer(http.HandlerFunc(serve))
	defer front.Close()
	defer views.Close()
	tab := b.Open(t, front.URL)
	defer tab.Close()
	tab.Wait(t, `document.title === "ready"`)
	sandbox := strings.Replace(views.URL, "127.0.0.1", "localhost", 1) + "/sandbox"
	size := webtest.Eval[[2]float64](t, v.frame, prelude+`[f.clientWidth, f.clientHeight]})()`)
	webtest.Eval[any](t, tab, fmt.Sprintf(`void show(%q, %s)`, sandbox, ahp.MustMarshal(size)))
	frame := tab.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/sandbox" })[0]
	const official = `(() => { const w = frames[0], d = w?.document, h = undefined; return `
	frame.Wait(t, official+`Boolean(d && d.readyState === "complete" && (`+shows+`))})()`)
	same := func() (bool, string, string) {
		ours, theirs := v.eval(words), webtest.Eval[string](t, frame, official+words+`})()`)
		return ours == theirs, ours, theirs
	}
	equal, ours, theirs := same()
	for range 20 { // what is drawn later
		if equal {
			return true
		}
		webtest.Eval[bool](t, tab, `new Promise((go) => setTimeout(() => go(true), 250))`)
		equal, ours, theirs = same()
	}
	if !equal {
		t.Logf("here it shows\n%.1500s\nunder the official bridge\n%.1500s", ours, theirs)
	}
	return equal
}
