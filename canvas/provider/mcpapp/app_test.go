package mcpapp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// pageOf writes a View's page for the fake server.
func (e *env) pageOf(t *testing.T, page string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// everyMethod is a View of the official App class that calls each of its methods.
const everyMethod = `
import { App } from "@modelcontextprotocol/ext-apps";
const app = new App({ name: "every method", version: "1" }, { tools: { listChanged: true }, availableDisplayModes: ["inline", "fullscreen"] }, { autoResize: false });
const seen = globalThis.seen = { notified: [], results: {} };
for (const on of ["ontoolinput", "ontoolinputpartial", "ontoolresult", "ontoolcancelled", "onhostcontextchanged"]) app[on] = (p) => seen.notified.push(on + " " + Object.keys(p).sort());
app.onteardown = async () => { seen.notified.push("onteardown"); return {}; };
app.onlisttools = async () => ({ tools: [{ name: "paint", inputSchema: { type: "object" } }] });
app.oncalltool = async ({ name }) => ({ content: [{ type: "text", text: "called " + name }] });
const run = async (name, fn) => { try { seen.results[name] = await fn(); } catch (err) { seen.results[name] = { error: err.code ?? String(err) }; } };
globalThis.app = app;
globalThis.later = (name, fn) => { run(name, fn); };
(async () => {
  await app.connect();
  seen.host = [app.getHostVersion()?.name, typeof app.getHostCapabilities()?.serverTools, app.getHostContext()?.platform].join();
  await run("callServerTool", () => app.callServerTool({ name: "count", arguments: { by: 1 } }));
  await run("forbidden", () => app.callServerTool({ name: "secret_action", arguments: {} }));
  await run("readServerResource", () => app.readServerResource({ uri: "` + fakeURI + `" }));
  await run("listServerResources", () => app.listServerResources());
  await run("createSamplingMessage", () => app.createSamplingMessage({ messages: [{ role: "user", content: { type: "text", text: "x" } }], maxTokens: 5 }));
  await run("sendMessage", () => app.sendMessage({ role: "user", content: [{ type: "text", text: "a message" }] }));
  await run("sendLog", () => app.sendLog({ level: "info", data: "a line of the App" }));
  await run("updateModelContext", () => app.updateModelContext({ content: [{ type: "text", text: "a context" }] }));
  await run("openLink", () => app.openLink({ url: "javascript:alert(1)" }));
  await run("requestDisplayMode", () => app.requestDisplayMode({ mode: "fullscreen" }));
  await run("sendSizeChanged", () => app.sendSizeChanged({ width: 100, height: 300 }));
  await run("sendToolListChanged", () => app.sendToolListChanged());
  await run("requestTeardown", () => app.requestTeardown());
  await run("ping", () => app.request({ method: "ping" }, { parse: (x) => x, safeParse: (data) => ({ success: true, data }), "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } }));
  await run("malformed", () => new Promise((resolve) => {
    let waiting = 0, answers = 0;
    addEventListener("message", ({ data }) => { if (String(data?.id).startsWith("bad")) { answers++; if (answers === waiting) resolve(answers); } });
    const bad = (m) => { waiting++; parent.postMessage({ jsonrpc: "2.0", id: "bad" + waiting, ...m }, "*"); };
    for (const method of ["ui/initialize", "ui/open-link", "ui/request-display-mode", "ui/download-file", "ui/message", "ui/update-model-context", "tools/call", "resources/read", "nothing"]) for (const params of [undefined, null, 7, [], { contents: [{}] }]) {
      if (method === "ui/initialize" && typeof params === "object" && params !== null) continue; // it would begin again
      bad({ method, params });
    }
    for (const m of [null, 7, "x", {}, { jsonrpc: "1.0" }, { jsonrpc: "2.0", id: 999, result: {} }, { jsonrpc: "2.0", method: {} }]) parent.postMessage(m, "*");
  }));
  seen.done = true;
})().catch((err) => { seen.failed = String(err); });
`

// bundled returns a script with the official packages that it imports, for a page.
func bundled(t *testing.T, script string) string {
	t.Helper()
	const modules = "../../../testcases/chats"
	if _, err := os.Stat(modules + "/node_modules"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run npm ci in testcases/chats")
		}
		t.Skip("needs npm ci in testcases/chats")
	}
	dir, err := filepath.Abs(modules)
	if err != nil {
		t.Fatal(err)
	}
	r := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: script, ResolveDir: dir}, Bundle: true, Format: api.FormatIIFE, Target: api.ESNext, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors[0].Text)
	}
	return strings.ReplaceAll(string(r.OutputFiles[0].Contents), "</script", `<\/script`)
}

// TestAppClass: the official App class works as a View, with every method that it has, and
// nothing that is malformed goes without an answer.
func TestAppClass(t *testing.T) { appClass(t, everyMethod) }

// TestOlderAppClass: so does the class of version 1.7.5, for pages that were built with it.
func TestOlderAppClass(t *testing.T) {
	const older = "ext-apps-1" // its name in testcases/chats/package.json
	if _, err := os.Stat("../../../testcases/chats/node_modules/" + older); err != nil && os.Getenv("CI") != "true" {
		t.Skip("needs npm ci in testcases/chats")
	}
	appClass(t, strings.Replace(everyMethod, `"@modelcontextprotocol/ext-apps"`, `"`+older+`"`, 1))
}

func appClass(t *testing.T, page string) {
	t.Helper()
	script := bundled(t, page)
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		s := e.fake("ok")
		s.Env["FAKE_PAGE"] = e.pageOf(t, "<!doctype html><meta charset=utf-8><title>App</title><p>App</p><script>"+script+"</script>")
		e.add(s)
		e.mustOpen("show", "")
		v := e.view(webtest.Start(t))
		v.wait(`w.seen?.done || w.seen?.failed`)
		var seen struct {
			Notified []string
			Results  map[string]json.RawMessage
			Host     string
			Failed   string
		}
		if err := json.Unmarshal([]byte(v.eval(`JSON.stringify(w.seen)`)), &seen); err != nil {
			t.Fatal(err)
		}
		if seen.Failed != "" || seen.Host != "ahp-canvas,object,web" {
			t.Fatalf("failed %q, host %q", seen.Failed, seen.Host)
		}
		if len(seen.Notified) < 2 || seen.Notified[0] != "ontoolinput arguments" || !strings.HasPrefix(seen.Notified[1], "ontoolresult ") || !strings.Contains(seen.Notified[1], "content") || strings.Count(strings.Join(seen.Notified, " "), "ontool") != 2 {
			t.Errorf("notified: %q", seen.Notified)
		}
		for name, want := range map[string]string{
			"callServerTool": `counted`, "forbidden": `{"error":-32602}`, "readServerResource": `text/html;profile=mcp-app`, "listServerResources": fakeURI,
			"sendMessage": `{}`, "updateModelContext": `{}`, "openLink": `{"isError":true}`, "requestDisplayMode": `{"mode":"inline"}`, "ping": `{}`, "malformed": `43`,
		} {
			if got := string(seen.Results[name]); !strings.Contains(got, want) {
				t.Errorf("%s: %.300s, want %s", name, got, want)
			}
		}
		if got := string(seen.Results["createSamplingMessage"]); !strings.Contains(got, "error") {
			t.Errorf("createSamplingMessage: %s", got)
		}
		for _, text := range []string{"a message", "a context"} {
			e.awaitEvent(text)
		}
		e.await("the log", func() bool { return strings.Contains(e.log("fake"), "a line of the App") })
		for action, want := range map[string]string{"app_list_tools": "paint", "app_call_tool": "called paint"} {
			if got, err := e.invoke("show", action, `{"name":"paint"}`); err != nil || !strings.Contains(got, want) {
				t.Errorf("%s: %s, %v", action, got, err)
			}
		}
		v.in(`later("downloadFile", () => app.downloadFile({ contents: [{ type: "resource", resource: { uri: "file:///x.txt", text: "hello" } }] })), 0`)
		v.tab.Wait(t, `document.querySelector(".save:not([hidden])")`)
		v.tab.Click(t, ".save .dismiss")
		v.wait(`JSON.stringify(w.seen.results.downloadFile) === '{"isError":true}'`)
		v.tab.Click(t, "#theme")
		v.tab.Click(t, "#theme")
		v.wait(`w.seen.notified.some((n) => n.startsWith("onhostcontextchanged") && n.includes("theme"))`)
		e.mustOpen("show", `{"what":"again"}`)
		v.tab.Close()
	})
}

// handshake is a recorded conversation of an official host and a published View.
type handshake struct {
	Messages []struct {
		From    string
		Message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
		}
	}
}

// replay is a View that says what a recorded one said, in order, and waits for what its host
// said in between, up to the tool's result.
const replay = `<!doctype html><meta charset="utf-8"><title>Replay</title><p id="state"></p><script>
const messages = MESSAGES, heard = [];
const kind = (m) => m.method ?? "answer " + JSON.stringify(m.id);
globalThis.heard = heard;
addEventListener("message", ({ data }) => heard.push(kind(data)));
(async () => {
  let at = 0;
  for (const { from, message } of messages) {
    if (from === "view") { parent.postMessage(message, "*"); continue; }
    const want = kind(message);
    for (const end = Date.now() + 20000; !heard.includes(want) && Date.now() < end;) await new Promise((r) => setTimeout(r, 10));
    if (!heard.includes(want)) { document.querySelector("#state").textContent = "never heard " + want; return; }
  }
  document.querySelector("#state").textContent = "done";
})();
</script>`

// TestHandshakes: recorded handshakes of published Views with the official host go the same way
// here: each message of the host comes, once, in the recorded order.
func TestHandshakes(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		for _, name := range []string{"basic-vanillajs", "debug", "system-monitor"} {
			t.Run(name, func(t *testing.T) {
				raw, err := os.ReadFile(filepath.Join("testdata", "handshakes", name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				var h handshake
				if err := json.Unmarshal(raw, &h); err != nil {
					t.Fatal(err)
				}
				var wanted []string
				for n, m := range h.Messages {
					if m.From == "host" && m.Message.Method != "" {
						wanted = append(wanted, m.Message.Method)
					}
					if m.From == "host" && m.Message.Method == "ui/notifications/tool-result" {
						h.Messages = h.Messages[:n+1]
						break
					}
				}
				all, err := json.Marshal(rawMessages(t, raw, len(h.Messages)))
				if err != nil {
					t.Fatal(err)
				}
				e := start(t)
				s := e.fake("ok")
				s.Env["FAKE_PAGE"] = e.pageOf(t, strings.Replace(replay, "MESSAGES", strings.ReplaceAll(string(all), "<", `\u003c`), 1))
				e.add(s)
				e.mustOpen("show", "")
				v := e.view(webtest.Start(t))
				v.wait(`d.querySelector("#state").textContent`)
				if got := v.eval(`d.querySelector("#state").textContent`); got != "done" {
					t.Fatal(got)
				}
				got := v.eval(`w.heard.filter((k) => k.startsWith("ui/notifications/tool")).join()`)
				if got != strings.Join(wanted, ",") {
					t.Errorf("the host said %s, recorded are %q", got, wanted)
				}
				if got := v.eval(`w.heard.filter((k) => k.startsWith("answer ")).length + " " + new Set(w.heard.filter((k) => k.startsWith("answer "))).size`); strings.Fields(got)[0] != strings.Fields(got)[1] {
					t.Errorf("an answer came twice: %s", got)
				}
				v.tab.Close()
			})
		}
	})
}

// rawMessages returns the first n messages of a recording as they were.
func rawMessages(t *testing.T, raw []byte, n int) []json.RawMessage {
	t.Helper()
	var r struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Messages) < n {
		t.Fatal(fmt.Errorf("%d messages, %w", len(r.Messages), err))
	}
	return r.Messages[:n]
}
